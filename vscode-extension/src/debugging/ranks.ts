// The view Ranks: where the ranks of the job are, with their stacks folded, and commands that resume those of one branch.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { DEBUG_TYPE } from './configuration';
import { Jobs, type Job } from './rankSessions';
import { folded, ranges, type Branch, type Frame } from './rankStacks';

const VIEW = 'dynascope.ranks';
/** The context key that shows the view: a job of several ranks is debugged. */
const SEVERAL = 'dynascope.severalRanks';
/** How long rows wait for frames, in milliseconds: what comes later is shown then. */
const PATIENCE = 500;
/** The workbench's own command for one thread. A request to the adapter would leave it shown as stopped. */
const COMMANDS: Readonly<Record<string, string>> = {
  'dynascope.continueRanks': 'workbench.action.debug.continue',
  'dynascope.stepRanks': 'workbench.action.debug.stepOver',
};

/** A row of the view. Its id distinguishes rows that are folded from those that are not: VS Code keeps which are unfolded. */
export type Row = { readonly id: string; readonly job: Job } & (
  | { readonly kind: 'branch'; readonly branch: Branch }
  | { readonly kind: 'callers'; readonly branch: Branch }
  | { readonly kind: 'frame'; readonly frame: Frame; readonly ranks: readonly number[] }
  | { readonly kind: 'state'; readonly ranks: readonly number[]; readonly isStopped: boolean }
);

/** Registers the view and its commands. */
export function ranks(): vscode.Disposable[] {
  const changed = new vscode.EventEmitter<void>();
  const unfolded = new WeakSet<Job>();
  let isShown: boolean | undefined;
  const refresh = (): void => {
    if (isShown !== jobs.haveSeveralRanks) void vscode.commands.executeCommand('setContext', SEVERAL, (isShown = jobs.haveSeveralRanks));
    changed.fire();
    void unfold(jobs.shown);
  };
  /** Unfolds the view when ranks of a job stop for the first time: VS Code folds all that extensions add to Run and Debug. */
  const unfold = async (job: Job): Promise<void> => {
    if (unfolded.has(job) || [...job.values()].filter(({ threadId }) => threadId !== undefined).length < 2) return;
    unfolded.add(job);
    try {
      const [first] = await outermost(job, refresh);
      if (first) await view.reveal(first, { select: false });
    } catch {
      unfolded.delete(job); // another rank has stopped meanwhile, and the row is another one
      setTimeout(() => void unfold(jobs.shown), PATIENCE);
    }
  };
  const jobs = new Jobs(refresh);
  const view = vscode.window.createTreeView(VIEW, {
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getChildren: (row?: Row) => (row ? below(row) : outermost(jobs.shown, refresh)),
      getParent: () => undefined, // only outermost rows are revealed
      getTreeItem: item,
    },
  });
  refresh();
  return [
    changed,
    view,
    vscode.debug.onDidChangeActiveDebugSession(refresh),
    vscode.debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, { createDebugAdapterTracker: jobs.tracker }),
    ...Object.entries(COMMANDS).map(([command, ofThread]) =>
      vscode.commands.registerCommand(command, (...given: readonly [] | readonly [Row | undefined]) => {
        // the view passes no row where it has drawn others since
        if (given.length === 0) resume(ofThread, jobs.shown, [...jobs.shown.keys()]);
        else if (given[0]) resume(ofThread, given[0].job, ranksOf(given[0]));
      }),
    ),
  ];
}

function resume(command: string, job: Job, asked: readonly number[]): void {
  const stopped = asked.flatMap((number) => job.get(number) ?? []).filter(({ threadId }) => threadId !== undefined);
  for (const { session, threadId } of stopped) {
    const thread = { sessionId: session.id, threadId: `thread:${session.id}:${threadId}` };
    void vscode.commands.executeCommand(command, undefined, thread); // as the Call Stack view does: its first argument is a text
  }
  if (!stopped.length) void vscode.window.showInformationMessage(vscode.l10n.t('No rank is stopped.'));
}

function ranksOf(row: Row): readonly number[] {
  return row.kind === 'branch' || row.kind === 'callers' ? row.branch.ranks : row.ranks;
}

async function outermost(job: Job, refresh: () => void): Promise<Row[]> {
  const stopped = [...job.values()].filter(({ threadId }) => threadId !== undefined);
  const answers = stopped.map((rank) => rank.ask());
  const isLate = await Promise.race([Promise.all(answers).then(() => false), new Promise<boolean>((resolve) => setTimeout(() => resolve(true), PATIENCE))]);
  for (const answer of isLate ? answers.filter((_, at) => !stopped[at]?.frames) : []) void answer.then(refresh);
  const stacks = new Map<number, readonly Frame[]>();
  const without: Record<'stopped' | 'running', number[]> = { stopped: [], running: [] };
  for (const [number, { frames, threadId }] of [...job].sort(([one], [other]) => one - other)) {
    if (threadId === undefined) without.running.push(number);
    else if (frames?.length) stacks.set(number, frames);
    else without.stopped.push(number);
  }
  const states = [without.stopped, without.running].map((ranks, at): Row => ({ id: `state ${at}`, job, kind: 'state', ranks, isStopped: at === 0 }));
  return [...folded(stacks).map((branch) => asRow(branch, job, '')), ...states.filter((row) => ranksOf(row).length)];
}

function asRow(branch: Branch, job: Job, parent: string): Row {
  return { id: `${parent}/${ranges(branch.ranks)}${branch.branches.length ? ' parting' : ''}`, job, kind: 'branch', branch };
}

function below(row: Row): Row[] {
  const { id, job } = row;
  if (row.kind !== 'branch' && row.kind !== 'callers') return [];
  const { branches, frames, ranks } = row.branch;
  if (row.kind === 'branch' && branches.length) {
    const callers: Row[] = frames.length ? [{ id: `${id} callers`, job, kind: 'callers', branch: row.branch }] : [];
    return [...branches.map((branch) => asRow(branch, job, id)), ...callers];
  }
  return frames.map((frame, at) => ({ id: `${id} ${at}`, job, kind: 'frame', frame, ranks }));
}

function item(row: Row): vscode.TreeItem {
  const made = new vscode.TreeItem(labelOf(row), foldingOf(row));
  made.id = row.id;
  switch (row.kind) {
    case 'frame':
      return atFrame(made, row, row.frame, row.frame.name);
    case 'callers':
      return atFrame(made, row, row.branch.frames[0]);
    case 'branch':
      made.iconPath = new vscode.ThemeIcon(row.branch.branches.length ? 'git-branch' : 'debug-pause');
      made.contextValue = 'stopped';
      return atFrame(made, row, row.branch.frames[0]);
    case 'state':
      made.description = row.isStopped ? vscode.l10n.t('stopped') : vscode.l10n.t('running');
      made.iconPath = new vscode.ThemeIcon(row.isStopped ? 'debug-pause' : 'run');
      if (row.isStopped) made.contextValue = 'stopped';
      return made;
  }
}

function labelOf(row: Row): string {
  if (row.kind === 'callers') return vscode.l10n.t('Called from');
  if (row.kind === 'frame') return placeOf(row.frame);
  const ranks = ranksOf(row);
  return ranks.length > 1 ? vscode.l10n.t('ranks {0}', ranges(ranks)) : vscode.l10n.t('rank {0}', String(ranks[0]));
}

function foldingOf(row: Row): vscode.TreeItemCollapsibleState {
  const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
  if (row.kind === 'branch') return row.branch.branches.length ? Expanded : Collapsed;
  return row.kind === 'callers' ? Collapsed : None;
}

/** Describes the row, and has a click on it open the line. */
function atFrame(made: vscode.TreeItem, row: Row, frame: Frame | undefined, description?: string): vscode.TreeItem {
  if (!frame) return made;
  const { source, line, name } = frame;
  made.description = description ?? (source?.path ? `${placeOf(frame)}  ${name}` : name);
  if (!source?.path) return made;
  made.tooltip = `${source.path}:${line}`;
  const start = new vscode.Position(Math.max(0, line - 1), 0);
  const shown = { selection: new vscode.Range(start, start), preserveFocus: true };
  const session = row.job.get(ranksOf(row)[0] ?? -1)?.session;
  const uri = source.sourceReference ? vscode.debug.asDebugSourceUri(source, session) : vscode.Uri.file(source.path);
  made.command = { command: 'vscode.open', title: vscode.l10n.t('Open Line'), arguments: [uri, shown] };
  return made;
}

function placeOf({ source, line, name }: Frame): string {
  return source?.path ? `${path.basename(source.path)}:${line}` : name;
}
