// The view of runs in the activity bar: the rows of the language server's tree, which it makes from what was recorded.
import * as vscode from 'vscode';
import { lastRun } from './lastRun';
import { compareGraphs } from './graphComparison';
import { showLineInGraph } from './graphOfLine';
import { fillPicture, PICTURE, showPicture } from './graphPanel';
import { keptPanels } from '../webviews/panels';
import { NOTHING_RECORDED, type FactsServer, type Row } from './factsServer';
import { openDocument, openPlace, recordedDocuments } from './recordedDocuments';
import { fillTimeline, showTimeline, TIMELINE } from './timelinePanel';
import { unfolded, type Unfolded } from './unfolded';

/** A row in the tree, with the keys from the top to it. */
interface Node {
  readonly row: Row;
  readonly keys: readonly string[];
  readonly parent?: Node;
}

const VIEW = 'dynascope.runs';
const ORDER = 'dynascope.order';
/** The orders of compiles, as they are offered. */
const ORDERS = {
  time: vscode.l10n.t('In the Order They Began'),
  severity: vscode.l10n.t('The Most Severe First'),
  duration: vscode.l10n.t('The Slowest First'),
} as const;
const COLORS: Readonly<Record<string, string>> = {
  error: 'problemsErrorIcon.foreground',
  warning: 'problemsWarningIcon.foreground',
  information: 'problemsInfoIcon.foreground',
  success: 'testing.iconPassed',
};
/** At most one refresh in so many milliseconds: while a session compiles, facts change several times a second. */
const QUIET = 1000;

/** The view, and what a recording does with it. */
export interface Explorer {
  readonly disposables: vscode.Disposable[];
  /** Says at once that a program is recorded: its row comes when it has imported torch. */
  readonly recording: (program: string) => void;
  /** Shows the view without taking the focus from where the user types. */
  readonly show: () => Promise<void>;
}

/** Registers the view and its commands. */
export function explorer(server: FactsServer, memory: vscode.Memento, extension: vscode.Uri): Explorer {
  const changed = new vscode.EventEmitter<void>();
  const order = (): string => memory.get<string>(ORDER, 'time');
  let pending: NodeJS.Timeout | undefined;
  let refreshed = 0;
  const soon = (): void => {
    pending ??= setTimeout(
      () => {
        pending = undefined;
        refreshed = Date.now();
        changed.fire();
      },
      Math.max(0, refreshed + QUIET - Date.now()),
    );
  };
  const getChildren = async (node?: Node): Promise<Node[]> => {
    const keys = node?.keys ?? [];
    const rows = node?.row.children ?? (await server.request<Row[]>('dynascope/rows', { keys, order: order() })) ?? [];
    return rows.map((row) => ({ row, keys: [...keys, row.key], ...(node && { parent: node }) }));
  };
  const getParent = ({ parent }: Node): Node | undefined => parent;
  const known = unfolded(memory);
  const getTreeItem = (node: Node): vscode.TreeItem => item(node, known);
  const treeDataProvider = { onDidChangeTreeData: changed.event, getChildren, getParent, getTreeItem };
  const view = vscode.window.createTreeView<Node>(VIEW, { showCollapseAll: true, treeDataProvider });
  /** The newest run that is known, and that one as a recording began, until its own row comes. */
  let [newestKey, before] = ['', undefined as string | undefined];
  const recording = (program: string): void => {
    before = newestKey;
    view.message = vscode.l10n.t('Recording {0} …', program);
  };
  const shows = (newest: Node | undefined): void => {
    newestKey = newest?.row.key ?? '';
    if (newestKey !== before) view.message = '';
  };
  const show = async (): Promise<void> => {
    before = undefined;
    const [newest] = await getChildren();
    shows(newest);
    if (newest) await view.reveal(newest, { select: false, focus: false, expand: true });
  };
  const reveal = async (keys: readonly string[]): Promise<void> => {
    let found: Node | undefined;
    for (const key of keys) {
      found = (await getChildren(found)).find(({ row }) => row.key === key);
      if (!found) return;
    }
    if (found) await view.reveal(found, { select: true, focus: true, expand: true });
  };
  /** The run that is given, or that of a given row: the title of the view gives the row with the focus; else one that the user chooses. */
  const chosen = async (given: Node | undefined): Promise<Node | undefined> => {
    if (given?.keys.length === 1) return given;
    const runs = await getChildren();
    const around = given && runs.find(({ row }) => row.key === given.keys[0]);
    if (around) return around;
    if (runs.length === 0) void vscode.window.showInformationMessage(NOTHING_RECORDED);
    if (runs.length < 2) return runs[0];
    const items = runs.map((each) => ({ label: each.row.label, description: each.row.description ?? '', run: each }));
    return (await vscode.window.showQuickPick(items, { placeHolder: vscode.l10n.t('The run'), matchOnDescription: true }))?.run;
  };
  const last = lastRun();
  const disposables = [
    changed,
    view,
    view.onDidChangeSelection(({ selection: [node] }) => void vscode.commands.executeCommand('setContext', 'dynascope.selectedRow', node && kindOf(node))),
    view.onDidExpandElement(({ element }) => known.remember(idOf(element), true)),
    view.onDidCollapseElement(({ element }) => known.remember(idOf(element), false)),
    last.item,
    changed.event(() => {
      void getChildren().then(
        ([newest]) => {
          shows(newest);
          return last.show(newest?.row);
        },
        () => undefined, // the view says what fails
      );
    }),
    new vscode.Disposable(() => clearTimeout(pending)),
    server.onDidChangeFacts(soon),
    vscode.commands.registerCommand('dynascope.refreshRuns', () => changed.fire()),
    vscode.commands.registerCommand('dynascope.openRecordedLine', ({ row, keys }: Node) => row.place && openPlace(server, keys[0], row.place)),
    vscode.commands.registerCommand('dynascope.openRecordedDocument', ({ row, keys }: Node) => openDocument(row.document, keys[0])),
    vscode.commands.registerCommand('dynascope.showGraph', async (node: Node | undefined = view.selection[0]) => {
      if (node) await showPicture(server, extension, node.row.document, node.keys[0] ?? '');
    }),
    vscode.commands.registerCommand('dynascope.compareGraphs', async (node: Node | undefined = view.selection[0]) => {
      if (node?.row.document) await compareGraphs(server, extension, node.keys[0] ?? '', node.row.document.id);
    }),
    vscode.commands.registerCommand('dynascope.showLineInGraph', () => showLineInGraph(server, extension)),
    vscode.commands.registerCommand('dynascope.showRunTimeline', async (given?: Node) => {
      const run = await chosen(given);
      if (run) await showTimeline(server, extension, reveal, run.row.key);
    }),
    keptPanels(PICTURE, (panel, state) => fillPicture(panel, server, extension, state)),
    keptPanels(TIMELINE, (panel, state) => fillTimeline(panel, server, extension, reveal, state)),
    ...recordedDocuments(server),
    vscode.commands.registerCommand('dynascope.sortCompiles', async () => {
      const items = Object.entries(ORDERS).map(([id, label]) => ({ id, label, description: id === order() ? vscode.l10n.t('now') : '' }));
      const chosen = await vscode.window.showQuickPick(items, { placeHolder: vscode.l10n.t('The order of compiles') });
      if (!chosen) return;
      await memory.update(ORDER, chosen.id);
      changed.fire();
    }),
    vscode.commands.registerCommand('dynascope.openRunReport', async (given?: Node) => {
      const run = await chosen(given);
      if (run) await server.request('workspace/executeCommand', { command: 'dynascope.openReport', arguments: [{ key: run.row.key }] });
    }),
    vscode.commands.registerCommand('dynascope.clearRuns', () => forget(server, {}, vscode.l10n.t('Delete everything that was recorded here?'))),
    vscode.commands.registerCommand('dynascope.forgetRun', async (given?: Node) => {
      const run = await chosen(given);
      if (run) await forget(server, { key: run.row.key }, vscode.l10n.t('Delete what was recorded of {0}?', [run.row.label, run.row.description].filter(Boolean).join(', ')));
    }),
  ];
  return { disposables, recording, show };
}

/** Returns a row's name in the whole tree; by it VS Code knows after a refresh which rows are open. */
function idOf({ keys }: Node): string {
  return JSON.stringify(keys);
}

function item(node: Node, known: Unfolded): vscode.TreeItem {
  const { row } = node;
  const below = row.isLazy || (row.children?.length ?? 0) > 0;
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const shown = new vscode.TreeItem(row.label, !below ? None : known.isOpen(idOf(node), row.isOpen === true) ? Expanded : Collapsed);
  shown.id = idOf(node);
  shown.description = row.description;
  shown.tooltip = [row.label, row.tooltip || row.description].filter(Boolean).join('\n');
  shown.contextValue = kindOf(node);
  if (row.icon) shown.iconPath = new vscode.ThemeIcon(row.icon, row.severity ? new vscode.ThemeColor(COLORS[row.severity] ?? '') : undefined);
  if (row.document) shown.command = { command: 'dynascope.openRecordedDocument', title: vscode.l10n.t('Open'), arguments: [node] };
  else if (row.place) shown.command = { command: 'dynascope.openRecordedLine', title: vscode.l10n.t('Open Line'), arguments: [node] };
  return shown;
}

/** What the menus of a row depend on, and what of the palette acts on the selected one. */
function kindOf({ row, keys }: Node): string {
  return keys.length === 1 ? 'run' : /^(form-)?graph:/.test(row.document?.id ?? '') ? 'graph' : 'row';
}

async function forget(server: FactsServer, which: { readonly key?: string }, question: string): Promise<void> {
  const yes = vscode.l10n.t('Delete');
  if ((await vscode.window.showWarningMessage(question, { modal: true }, yes)) === yes) await server.request('dynascope/forget', which);
}
