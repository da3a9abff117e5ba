// The view Ranks: where the ranks of the job are, with their stacks folded, and commands that resume those of one branch.
import * as path from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import * as vscode from 'vscode';
import { DEBUG_TYPE } from './configuration';
import { folded, ranges, type Branch, type Frame } from './rankStacks';

const VIEW = 'dynascope.ranks';
/** The context key that shows the view: a job of several ranks is debugged. */
const SEVERAL = 'dynascope.severalRanks';
/** What the adapter names the session of a rank. */
const NAME = /^Rank (\d+) /;
const RESUMING = new Set(['continue', 'next', 'stepIn', 'stepOut', 'goto']);
/** The workbench's own command for one thread. A request to the adapter would leave it shown as stopped. */
const COMMANDS: Readonly<Record<string, string>> = {
  'dynascope.continueRanks': 'workbench.action.debug.continue',
  'dynascope.stepRanks': 'workbench.action.debug.stepOver',
};

interface Rank {
  readonly session: vscode.DebugSession;
  /** The thread that has stopped. */
  threadId?: number | undefined;
  /** Its frames since then, the outermost first. */
  stack?: Promise<Frame[]> | undefined;
}

/** The ranks of one job by their numbers. */
type Job = Map<number, Rank>;

export type Row =
  | { readonly kind: 'branch'; readonly branch: Branch }
  | { readonly kind: 'callers'; readonly frames: readonly Frame[] }
  | { readonly kind: 'frame'; readonly frame: Frame }
  | { readonly kind: 'running'; readonly ranks: readonly number[] };

/** Registers the view and its commands. */
export function ranks(): vscode.Disposable[] {
  const changed = new vscode.EventEmitter<void>();
  /** By the session that has started the ranks. */
  const jobs = new Map<string, Job>();

  const refresh = (): void => {
    void vscode.commands.executeCommand('setContext', SEVERAL, [...jobs.values()].some(({ size }) => size > 1));
    changed.fire();
  };
  const shown = (): Job => {
    const active = vscode.debug.activeDebugSession;
    return (active && jobs.get(rootOf(active).id)) ?? jobs.values().next().value ?? new Map<number, Rank>();
  };
  const resume = (command: string) => (row?: Row) => {
    const job = shown();
    const asked = row?.kind === 'branch' ? row.branch.ranks : [...job.keys()];
    const stopped = asked.flatMap((number) => job.get(number) ?? []).filter(({ threadId }) => threadId !== undefined);
    for (const { session, threadId } of stopped) {
      void vscode.commands.executeCommand(command, { sessionId: session.id, threadId: `thread:${session.id}:${threadId}` });
    }
    if (!stopped.length) void vscode.window.showInformationMessage(vscode.l10n.t('No rank is stopped.'));
  };

  return [
    changed,
    vscode.window.registerTreeDataProvider(VIEW, {
      onDidChangeTreeData: changed.event,
      getChildren: (row?: Row) => (row ? below(row) : outermost(shown())),
      getTreeItem: item,
    }),
    vscode.debug.onDidChangeActiveDebugSession(refresh),
    vscode.debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, { createDebugAdapterTracker: (session) => tracker(session, jobs, refresh) }),
    ...Object.entries(COMMANDS).map(([command, ofOneThread]) => vscode.commands.registerCommand(command, resume(ofOneThread))),
  ];
}

function rootOf(session: vscode.DebugSession): vscode.DebugSession {
  return session.parentSession ? rootOf(session.parentSession) : session;
}

/** Keeps the rank of a session in its job, and where it has stopped. */
function tracker(session: vscode.DebugSession, jobs: Map<string, Job>, refresh: () => void): vscode.DebugAdapterTracker | undefined {
  const number = Number(NAME.exec(session.name)?.[1]);
  if (Number.isNaN(number)) return undefined;
  const { id } = rootOf(session);
  const job: Job = jobs.get(id) ?? new Map<number, Rank>();
  const rank: Rank = { session };
  const isAt = (threadId: number | undefined): void => {
    [rank.threadId, rank.stack] = [threadId, undefined];
    refresh();
  };
  jobs.set(id, job.set(number, rank));
  refresh();
  return {
    onDidSendMessage(message: DebugProtocol.ProtocolMessage) {
      const { event, body } = message as DebugProtocol.StoppedEvent;
      const { command, success } = message as DebugProtocol.Response;
      if (event === 'stopped') isAt(body.threadId ?? rank.threadId);
      else if (rank.threadId !== undefined && (event === 'continued' || (success && RESUMING.has(command)))) isAt(undefined);
    },
    onWillStopSession() {
      job.delete(number);
      if (!job.size) jobs.delete(id);
      refresh();
    },
  };
}

async function outermost(job: Job): Promise<Row[]> {
  const stacks = new Map<number, Frame[]>();
  const stopped = [...job].filter(([, { threadId }]) => threadId !== undefined);
  await Promise.all(stopped.map(async ([number, rank]) => stacks.set(number, await (rank.stack ??= stackOf(rank)))));
  const running = [...job.keys()].filter((number) => !stacks.has(number)).sort((one, other) => one - other);
  return [...folded(stacks).map(asRow), ...(running.length ? [{ kind: 'running', ranks: running } as const] : [])];
}

async function stackOf({ session, threadId }: Rank): Promise<Frame[]> {
  try {
    const { stackFrames } = (await session.customRequest('stackTrace', { threadId })) as DebugProtocol.StackTraceResponse['body'];
    return stackFrames.map(({ name, source, line }) => ({ name, path: source?.path, line })).reverse();
  } catch {
    return []; // it has gone on or ended meanwhile
  }
}

function asRow(branch: Branch): Row {
  return { kind: 'branch', branch };
}

function below(row: Row): Row[] {
  if (row.kind === 'branch') {
    const { branches, frames } = row.branch;
    if (branches.length) return [...branches.map(asRow), ...(frames.length ? [{ kind: 'callers', frames } as const] : [])];
  }
  return row.kind === 'branch' ? row.branch.frames.map(asFrame) : row.kind === 'callers' ? row.frames.map(asFrame) : [];
}

function asFrame(frame: Frame): Row {
  return { kind: 'frame', frame };
}

function item(row: Row): vscode.TreeItem {
  const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
  switch (row.kind) {
    case 'frame':
      return atFrame(new vscode.TreeItem(placeOf(row.frame)), row.frame, row.frame.name);
    case 'callers': {
      const item = new vscode.TreeItem(vscode.l10n.t('Called from'), Collapsed);
      return atFrame(item, row.frames[0], described(row.frames[0]));
    }
    case 'running': {
      const item = new vscode.TreeItem(named(row.ranks), None);
      item.description = vscode.l10n.t('running');
      item.iconPath = new vscode.ThemeIcon('run');
      return item;
    }
    case 'branch': {
      const { branches, frames, ranks } = row.branch;
      const item = new vscode.TreeItem(named(ranks), branches.length ? Expanded : Collapsed);
      item.iconPath = new vscode.ThemeIcon(branches.length ? 'git-branch' : 'debug-pause');
      item.contextValue = 'stopped';
      return atFrame(item, frames[0], described(frames[0]));
    }
  }
}

/** Describes the row, and has a click on it open the line. */
function atFrame(item: vscode.TreeItem, frame: Frame | undefined, description: string): vscode.TreeItem {
  item.description = description;
  if (frame?.path) {
    item.tooltip = `${frame.path}:${frame.line}`;
    const start = new vscode.Position(frame.line - 1, 0);
    const shown = { selection: new vscode.Range(start, start), preserveFocus: true };
    item.command = { command: 'vscode.open', title: vscode.l10n.t('Open Line'), arguments: [vscode.Uri.file(frame.path), shown] };
  }
  return item;
}

function described(frame: Frame | undefined): string {
  return frame ? `${placeOf(frame)}  ${frame.name}` : '';
}

function placeOf({ path: file, line, name }: Frame): string {
  return file ? `${path.basename(file)}:${line}` : name;
}

function named(ranks: readonly number[]): string {
  return ranks.length > 1 ? vscode.l10n.t('ranks {0}', ranges(ranks)) : vscode.l10n.t('rank {0}', String(ranks[0]));
}
