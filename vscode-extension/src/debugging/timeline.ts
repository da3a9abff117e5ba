// The view Compile Timeline: what happened in the compiles of the active session, and the way back to it.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { DEBUG_TYPE } from './configuration';

/** An event as the adapter's request `dynascopeTimeline` lists it; `targetId` is for DAP's `goto`. */
export interface CompilerEvent {
  readonly number: number;
  readonly seconds: number;
  readonly kind: string;
  readonly text: string;
  readonly compileId?: string;
  readonly source?: { readonly path?: string };
  readonly line?: number;
  readonly threadId?: number;
  readonly targetId?: number;
}

const VIEW = 'dynascope.timeline';
const ICONS: Readonly<Record<string, string>> = {
  compile: 'play',
  compiled: 'pass',
  restart: 'debug-restart',
  recompile: 'sync',
  'graph break': 'warning',
  specialization: 'pin',
  skipped: 'debug-step-over',
  failed: 'error',
  stop: 'debug-pause',
};

/** Registers the view and its commands. The workbench asks for rows only while the view is visible. */
export function timeline(): vscode.Disposable[] {
  const changed = new vscode.EventEmitter<void>();
  return [
    changed,
    vscode.window.registerTreeDataProvider(VIEW, { onDidChangeTreeData: changed.event, getChildren: events, getTreeItem: item }),
    vscode.debug.onDidChangeActiveDebugSession(() => changed.fire()),
    vscode.debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, {
      createDebugAdapterTracker: () => ({
        onDidSendMessage(message: { readonly event?: string }) {
          if (message.event === 'stopped' || message.event === 'continued') changed.fire();
        },
      }),
    }),
    vscode.commands.registerCommand('dynascope.refreshTimeline', () => changed.fire()),
    vscode.commands.registerCommand('dynascope.goToEvent', goThere),
    vscode.commands.registerCommand('dynascope.goToLineOfHistory', goToLineOfHistory),
  ];
}

/** The newest first, as in the editor's own timeline. */
async function events(): Promise<CompilerEvent[]> {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== DEBUG_TYPE) return [];
  try {
    const body = (await session.customRequest('dynascopeTimeline')) as { events: CompilerEvent[] };
    return body.events.reverse();
  } catch {
    return []; // the program is starting or has ended
  }
}

function item(event: CompilerEvent): vscode.TreeItem {
  const { compileId, kind, line = 1, number, seconds, source, targetId, text } = event;
  const row = new vscode.TreeItem(text);
  const place = source?.path ? `${path.basename(source.path)}:${line}` : '';
  row.description = [compileId && `[${compileId}]`, place, `${seconds.toFixed(3)} s`].filter(Boolean).join('  ');
  row.tooltip = `#${number} ${kind}\n${text}`;
  row.iconPath = new vscode.ThemeIcon(ICONS[kind] ?? 'circle-small');
  row.contextValue = [kind === 'recompile' ? 'recompile' : 'event', ...(targetId === undefined ? [] : ['reachable'])].join(' ');
  if (source?.path) {
    const start = new vscode.Position(line - 1, 0);
    const shown = { selection: new vscode.Range(start, start), preserveFocus: true };
    row.command = { command: 'vscode.open', title: vscode.l10n.t('Open Line'), arguments: [vscode.Uri.file(source.path), shown] };
  }
  return row;
}

/** What VS Code passes to an entry of a variable's menu, as far as it is needed. */
export interface ChosenVariable {
  readonly container: { readonly variablesReference: number };
  readonly variable: { readonly name: string };
}

/** Goes to the line of a row below `history`: VS Code does not pass its target on, so the row is asked for again. */
async function goToLineOfHistory({ container, variable }: ChosenVariable): Promise<void> {
  const session = vscode.debug.activeDebugSession;
  const body = (await session?.customRequest('variables', { variablesReference: container.variablesReference })) as
    | { variables: { name: string; targetId?: number }[] }
    | undefined;
  const row = body?.variables.find(({ name }) => name === variable.name);
  await goThere({ threadId: vscode.debug.activeStackItem?.threadId, targetId: row?.targetId });
}

async function goThere({ threadId, targetId }: Pick<CompilerEvent, 'threadId' | 'targetId'>): Promise<void> {
  try {
    await vscode.debug.activeDebugSession?.customRequest('goto', { threadId, targetId });
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}
