// Stands in for the editor's own module in unit tests: the parts of it that we use, recording what they are told.
import * as fs from 'node:fs';

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => void>();
  readonly event = (listener: (value: T) => void): { dispose: () => void } => {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of this.listeners) listener(value);
  }
  dispose(): void {
    this.listeners.clear();
  }
}

export interface FakeUri {
  readonly scheme: string;
  readonly fsPath: string;
  readonly query?: string;
  readonly fragment?: string;
  with?(change: { readonly fragment: string }): FakeUri;
  toString?(): string;
}

export const Uri = {
  file: (fsPath: string): FakeUri => ({ scheme: 'file', fsPath, with: ({ fragment }) => ({ scheme: 'file', fsPath, fragment }) }),
  from: ({ scheme, path, query }: { scheme: string; path: string; query: string }): FakeUri => ({ scheme, fsPath: path, query }),
  joinPath: ({ fsPath }: FakeUri, ...parts: string[]): FakeUri => ({ scheme: 'file', fsPath: [fsPath, ...parts].join('/'), toString: () => `file://${[fsPath, ...parts].join('/')}` }),
  parse: (text: string): FakeUri => {
    const { protocol, pathname } = new URL(text);
    return { scheme: protocol.slice(0, -1), fsPath: pathname, toString: () => text };
  },
};

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}
export class Range {
  constructor(
    readonly start: Position,
    readonly end: Position,
  ) {}
}
export class Location {
  readonly range: { readonly start: Position };
  constructor(
    readonly uri: FakeUri,
    start: Position,
  ) {
    this.range = { start };
  }
}
export class SourceBreakpoint {
  constructor(
    readonly location: Location,
    readonly enabled = true,
  ) {}
}
export class FunctionBreakpoint {
  constructor(
    readonly functionName: string,
    readonly enabled = true,
  ) {}
}
export interface FakeSession {
  readonly id: string;
  readonly type: string;
  readonly name?: string;
  readonly parentSession?: FakeSession;
  readonly customRequest: (command: string, body: unknown) => Promise<unknown>;
}
export type FakeBreakpoint = SourceBreakpoint | FunctionBreakpoint;

/** What a test sets and reads. */
export const state = {
  settings: new Map<string, unknown>(),
  extensions: new Map<string, { activate: () => Promise<unknown> }>(),
  executed: [] as string[],
  /** The same with their arguments. */
  executedWith: [] as (readonly unknown[])[],
  registered: [] as string[],
  commands: new Map<string, (...given: unknown[]) => unknown>(),
  shown: [] as string[],
  /** The options of messages that were shown. */
  options: [] as object[],
  started: [] as Record<string, unknown>[],
  answer: undefined as string | undefined,
};

export function resetState(): void {
  state.settings.clear();
  state.extensions.clear();
  state.executed.length = state.executedWith.length = 0;
  state.registered.length = 0;
  state.commands.clear();
  state.shown.length = 0;
  state.options.length = 0;
  state.started.length = 0;
  debug.breakpoints = [];
  debug.activeStackItem = undefined;
  debug.activeDebugSession = undefined;
  trackers.length = 0;
  trees.clear();
  treeViews.clear();
  executed.length = 0;
  revealed.length = 0;
  opened.length = columns.length = 0;
  window.tabGroups.activeTabGroup = { viewColumn: 1, activeTab: undefined };
  debug.began.dispose();
  debug.ended.dispose();
  state.answer = undefined;
  workspace.workspaceFolders = undefined;
  workspace.isTrusted = true;
  window.activeTextEditor = undefined;
}

export const env = { language: 'en' };

export const l10n = { bundle: undefined as Record<string, string> | undefined, t: (text: string, ...given: unknown[]): string => text.replace(/\{(\d+)\}/g, (_, place: string) => String(given[Number(place)])) };

const nothing = { dispose: (): void => undefined };

interface Folder {
  readonly uri: FakeUri;
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class TabInputWebview {
  readonly viewType = 'dynascope.graph';
}

export const ViewColumn = { Active: -1, Beside: -2, One: 1 };

export const workspace = {
  fs: {
    readFile: (uri: FakeUri): Promise<Uint8Array> => fs.promises.readFile(uri.fsPath),
    copy: (from: FakeUri, to: FakeUri): Promise<void> => fs.promises.cp(from.fsPath, to.fsPath, { errorOnExist: true, force: false }),
    writeFile: (uri: FakeUri, content: Uint8Array): Promise<void> => fs.promises.writeFile(uri.fsPath, content),
  },
  workspaceFolders: undefined as Folder[] | undefined,
  isTrusted: true,
  getWorkspaceFolder: (): Folder | undefined => workspace.workspaceFolders?.[0],
  getConfiguration: (section: string) => ({
    get: (key: string, fallback: unknown): unknown => state.settings.get(`${section}.${key}`) ?? fallback,
    update: (key: string, value: unknown): Promise<void> => {
      state.settings.set(`${section}.${key}`, value);
      return Promise.resolve();
    },
  }),
  asRelativePath: (path: string): string => path.split('/').at(-1) ?? path,
  saveAll: (): Promise<boolean> => Promise.resolve(true),
  onDidChangeConfiguration: () => nothing,
  onDidGrantWorkspaceTrust: () => nothing,
  onDidSaveTextDocument: () => nothing,
  openTextDocument: async (uri: FakeUri): Promise<FakeTextDocument> => {
    const text = new TextDecoder().decode(await files.get(uri.scheme)?.readFile(uri));
    return { uri, getText: () => text };
  },
  registerFileSystemProvider: (scheme: string, provider: FakeFiles) => {
    files.set(scheme, provider);
    return nothing;
  },
  registerTextDocumentContentProvider: (scheme: string, provider: FakeDocuments) => {
    documents.set(scheme, provider);
    return nothing;
  },
};

interface FakeTextDocument {
  readonly uri: FakeUri;
  readonly getText: () => string;
}
interface FakeDocuments {
  readonly provideTextDocumentContent: (uri: { toString: () => string }) => string;
}
interface FakeFiles {
  readonly stat: (uri: FakeUri) => Promise<unknown>;
  readonly readFile: (uri: FakeUri) => Promise<Uint8Array>;
  readonly writeFile: () => void;
}
/** The files of each scheme. */
export const files = new Map<string, FakeFiles>();
export const FileType = { File: 1 };
export const FileSystemError = { NoPermissions: (message: string): Error => new Error(message) };
/** The provider of each scheme. */
export const documents = new Map<string, FakeDocuments>();

export const extensions = { getExtension: (id: string) => state.extensions.get(id) };

const show = (message: string, options?: unknown): Promise<string | undefined> => {
  state.shown.push(message);
  if (typeof options === 'object' && options) state.options.push(options);
  return Promise.resolve(state.answer);
};

/** Places that were opened: the file, and its line from 1; and the columns. */
export const opened: string[] = [];
export const columns: (number | undefined)[] = [];

export const window = {
  tabGroups: { activeTabGroup: { viewColumn: 1, activeTab: undefined as { input: unknown } | undefined } },
  showTextDocument: (shown: FakeUri | FakeTextDocument, { selection, viewColumn }: { selection?: Range; viewColumn?: number } = {}): Promise<void> => {
    const uri = 'uri' in shown ? shown.uri : shown;
    if (uri.fsPath.startsWith('/nowhere/')) return Promise.reject(new Error('there is no such file'));
    columns.push(viewColumn);
    opened.push(uri.scheme === 'file' && !selection ? uri.fsPath : selection ? `${uri.fsPath}:${selection.start.line + 1}` : `${uri.scheme}:${uri.fsPath}?${uri.query}`);
    return Promise.resolve();
  },
  visibleTextEditors: [{ document: {} }] as unknown[],
  onDidChangeVisibleTextEditors: () => nothing,
  createTextEditorDecorationType: (options: object) => ({ ...options, ...nothing }),
  activeTextEditor: undefined as { document: { languageId: string; uri: FakeUri }; selection?: { active: Position } } | undefined,
  showErrorMessage: show,
  showWarningMessage: show,
  showInformationMessage: show,
  showQuickPick: (items: { label: string }[], { canPickMany = false } = {}): Promise<unknown> => {
    const chosen = items.find(({ label }) => label === state.answer);
    return Promise.resolve(chosen && canPickMany ? [chosen] : chosen);
  },
  createQuickPick: () => (quickPick = new FakeQuickPick()),
  showOpenDialog: (): Promise<undefined> => Promise.resolve(undefined),
  showSaveDialog: ({ defaultUri }: { defaultUri?: FakeUri }): Promise<FakeUri | undefined> => Promise.resolve(defaultUri),
  createWebviewPanel: (_type: string, title: string): FakePanel => {
    const panel: FakePanel = {
      title,
      webview: {
        html: '',
        cspSource: 'https://own.example',
        onDidReceiveMessage: (listener) => {
          const others = panel.clicked;
          panel.clicked = async (message) => {
            await others?.(message);
            await listener(message);
          };
        },
        asWebviewUri: (uri) => uri,
        postMessage: (message) => Promise.resolve(posted.push(message) > 0),
      },
      reveal: () => undefined,
      onDidDispose: (listener) => (panel.dispose = listener),
      dispose: () => undefined,
    };
    panels.push(panel);
    return panel;
  },
  registerWebviewPanelSerializer: (type: string, serializer: FakeSerializer) => {
    serializers.set(type, serializer);
    return nothing;
  },
  createTreeView: (name: string, { treeDataProvider }: { treeDataProvider: FakeTree }) => {
    trees.set(name, treeDataProvider);
    const [expanded, collapsed] = [new EventEmitter<{ element: unknown }>(), new EventEmitter<{ element: unknown }>()];
    const view: FakeTreeView = {
      ...nothing,
      selection: [],
      onDidChangeSelection: () => nothing,
      onDidExpandElement: expanded.event,
      onDidCollapseElement: collapsed.event,
      expand: (element) => expanded.fire({ element }),
      collapse: (element) => collapsed.fire({ element }),
      reveal: (row: unknown, how: object): Promise<void> => Promise.resolve(void revealed.push({ row, how })),
    };
    treeViews.set(name, view);
    return view;
  },
  registerTreeDataProvider: (view: string, tree: FakeTree) => {
    trees.set(view, tree);
    return nothing;
  },
  createOutputChannel: () => fakeLog().channel,
  createStatusBarItem: (id: unknown) => {
    // As the workbench does: an item of an id that it has seen is shown at once, with what the item before said.
    const before = typeof id === 'string' ? statusBarItem.text : undefined;
    statusBarItem = { visible: before !== undefined, text: before, show: () => void (statusBarItem.visible = true), hide: () => void (statusBarItem.visible = false), ...nothing };
    return statusBarItem;
  },
};

export class FakeQuickPick {
  items: { label: string; description?: string; alwaysShow?: boolean }[] = [];
  selectedItems: { label: string }[] = [];
  value = '';
  private readonly changed = new EventEmitter<string>();
  private readonly accepted = new EventEmitter<void>();
  private readonly hidden = new EventEmitter<void>();
  readonly onDidChangeValue = this.changed.event;
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  show(): void {}
  dispose(): void {
    this.hide();
  }
  type(value: string): void {
    this.value = value;
    this.changed.fire(value);
  }
  accept(label: string): void {
    this.selectedItems = this.items.filter((item) => item.label === label);
    this.accepted.fire();
  }
  hide(): void {
    this.hidden.fire();
  }
}

/** The quick pick made last. */
export let quickPick: FakeQuickPick;

/** The status bar item made last. */
export let statusBarItem: { visible: boolean; text?: string; tooltip?: string; show?: () => void; hide?: () => void } = { visible: false };

export const commands = {
  registerCommand: (name: string, run: (...given: unknown[]) => unknown) => {
    state.registered.push(name);
    state.commands.set(name, run);
    return nothing;
  },
  executeCommand: (name: string, ...given: unknown[]): Promise<unknown> => {
    state.executed.push(name);
    state.executedWith.push([name, ...given]);
    if (name === 'vscode.openFolder') opened.push(`${name} ${(given[0] as FakeUri).fsPath} ${JSON.stringify(given[1])}`);
    return Promise.resolve(name.startsWith('dynascope.') ? state.commands.get(name)?.(...given) : undefined);
  },
  getCommands: (): Promise<string[]> => Promise.resolve([...state.commands.keys()]),
};

/** Sees the messages of a session's adapter. */
interface FakeTrackers {
  readonly createDebugAdapterTracker: () => { readonly onDidSendMessage?: (message: unknown) => void };
}
/** Every factory registered. */
export const trackers: FakeTrackers[] = [];

export class Disposable {
  constructor(readonly dispose: () => void) {}
}
export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export class TreeItem {
  id?: string;
  description?: string;
  tooltip?: string;
  iconPath?: { readonly id: string; readonly color?: ThemeColor };
  contextValue?: string;
  command?: { readonly command: string; readonly arguments: readonly [FakeUri, { readonly selection: Range }] };
  constructor(
    readonly label: string,
    readonly collapsibleState = TreeItemCollapsibleState.None,
  ) {}
}
export class ThemeIcon {
  constructor(
    readonly id: string,
    readonly color?: ThemeColor,
  ) {}
}
export interface FakeTree {
  readonly onDidChangeTreeData: (listener: () => void) => void;
  readonly getChildren: (row?: unknown) => Promise<unknown[]>;
  readonly getTreeItem: (row: unknown) => TreeItem;
}

/** What was revealed in a tree. */
export const revealed: { readonly row: unknown; readonly how: object }[] = [];

/** A task that was executed, and who hears of its end. */
interface FakeTask {
  readonly name: string;
  readonly execution: ProcessExecution;
}
export const executed: { readonly task: FakeTask }[] = [];
const endings = new EventEmitter<{ readonly execution: { readonly task: FakeTask }; readonly exitCode: number }>();
export const tasks = {
  executeTask: (task: FakeTask) => {
    executed.push({ task });
    return Promise.resolve(executed.at(-1));
  },
  onDidEndTask: endings.event,
  onDidEndTaskProcess: endings.event,
  end: (execution: { readonly task: FakeTask } | undefined, exitCode = 0): void => (execution ? endings.fire({ execution, exitCode }) : undefined),
};
export const TaskScope = { Global: 1, Workspace: 2 };
export class ProcessExecution {
  constructor(
    readonly process: string,
    readonly args: string[],
    readonly options: { readonly cwd: string },
  ) {}
}
export class Task {
  constructor(
    readonly definition: unknown,
    readonly scope: unknown,
    readonly name: string,
    readonly source: string,
    readonly execution: ProcessExecution,
  ) {}
}
/** The tree of each view. */
export const trees = new Map<string, FakeTree>();

/** A view of a tree, and what a user does with it. */
export interface FakeTreeView {
  message?: string;
  selection: unknown[];
  readonly expand: (row: unknown) => void;
  readonly collapse: (row: unknown) => void;
  readonly [other: string]: unknown;
}
export const treeViews = new Map<string, FakeTreeView>();

export const debug = {
  breakpoints: [] as FakeBreakpoint[],
  addBreakpoints: (added: FakeBreakpoint[]): void => void debug.breakpoints.push(...added),
  removeBreakpoints: (removed: FakeBreakpoint[]): void => {
    debug.breakpoints = debug.breakpoints.filter((each) => !removed.includes(each));
  },
  startDebugging: (_folder: unknown, configuration: Record<string, unknown>): Promise<boolean> => {
    state.started.push(configuration);
    return Promise.resolve(true);
  },
  activeStackItem: undefined as { session: FakeSession; threadId: number } | undefined,
  began: new EventEmitter<FakeSession>(),
  ended: new EventEmitter<FakeSession>(),
  onDidStartDebugSession: (listener: (session: FakeSession) => void) => debug.began.event(listener),
  onDidTerminateDebugSession: (listener: (session: FakeSession) => void) => debug.ended.event(listener),
  registerDebugConfigurationProvider: () => nothing,
  registerDebugAdapterDescriptorFactory: () => nothing,
  registerDebugAdapterTrackerFactory: (_type: string, factory: FakeTrackers) => {
    trackers.push(factory);
    return nothing;
  },
  activeDebugSession: undefined as FakeSession | undefined,
  onDidChangeActiveDebugSession: () => nothing,
  asDebugSourceUri: ({ name }: { name: string }): FakeUri => ({ scheme: 'debug', fsPath: name }),
};

/** The language status item made last. */
export let status: { text?: string; detail?: string } = {};

export interface FakePanel {
  readonly title: string;
  readonly webview: {
    html: string;
    options?: object;
    readonly cspSource: string;
    readonly onDidReceiveMessage: (listener: (message: unknown) => Promise<void>) => void;
    readonly asWebviewUri: (uri: FakeUri) => FakeUri;
    readonly postMessage: (message: unknown) => Promise<boolean>;
  };
  clicked?: (message: unknown) => Promise<void>;
  readonly reveal: () => void;
  readonly onDidDispose: (listener: () => void) => void;
  dispose: () => void;
}
interface FakeSerializer {
  readonly deserializeWebviewPanel: (panel: FakePanel, state: unknown) => Promise<void>;
}
/** What fills the panels of each type after a reload. */
export const serializers = new Map<string, FakeSerializer>();
/** Every panel made. */
export const panels: FakePanel[] = [];
/** What was sent to pages. */
export const posted: unknown[] = [];

export const languages = {
  createLanguageStatusItem: () => {
    status = {};
    return Object.assign(status, nothing);
  },
  registerDocumentLinkProvider: ({ scheme }: { scheme: string }, provider: FakeLinks) => {
    links.set(scheme, provider);
    return nothing;
  },
  registerDefinitionProvider: ({ scheme }: { scheme: string }, provider: FakeDefinitions) => {
    definitions.set(scheme, provider);
    return nothing;
  },
};

/** A document as a provider gets it. */
export interface FakeDocument {
  readonly uri: FakeUri;
  readonly getText: () => string;
}
export class DocumentLink {
  tooltip?: string;
  target?: FakeUri;
  constructor(readonly range: Range) {}
}
interface FakeLinks {
  readonly provideDocumentLinks: (document: FakeDocument) => DocumentLink[];
  readonly resolveDocumentLink?: (link: DocumentLink) => Promise<DocumentLink>;
}
interface FakeDefinitions {
  readonly provideDefinition: (document: FakeDocument, position: Position) => Promise<Location | undefined>;
}
/** The providers of each scheme. */
export const links = new Map<string, FakeLinks>();
export const definitions = new Map<string, FakeDefinitions>();

export const StatusBarAlignment = { Left: 1, Right: 2 };
export const ConfigurationTarget = { Global: 1, Workspace: 2 };
export const DebugConfigurationProviderTriggerKind = { Initial: 1, Dynamic: 2 };
export const LanguageStatusSeverity = { Information: 0, Warning: 1, Error: 2 };

/** A log channel, and the lines it was given. */
export function fakeLog(): { channel: Record<string, unknown>; lines: string[] } {
  const lines: string[] = [];
  const line = (text: string): void => void lines.push(text);
  const channel = { trace: line, debug: line, info: line, warn: line, error: line, show: () => line('(shown)'), dispose: () => undefined };
  return { channel, lines };
}
