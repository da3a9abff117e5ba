// Graphs and bytecode of recorded compiles as read-only documents; their lines lead to those of the program.
import * as vscode from 'vscode';
import type { FactsServer, Place, RecordedDocument } from './factsServer';
import { places } from './places';

/** A link whose line is looked up when it is clicked. */
class RecordedLink extends vscode.DocumentLink {
  constructor(
    range: vscode.Range,
    readonly key: string,
    readonly place: Place,
  ) {
    super(range);
    this.tooltip = vscode.l10n.t('Open the line of the program');
  }
}

const SCHEME = 'dynascope-recorded';
const SELECTOR: vscode.DocumentFilter = { scheme: SCHEME };

/** Where a recorded line is now. */
export async function located(server: FactsServer, key: string | undefined, place: Place): Promise<number> {
  return (await server.request<number>('dynascope/locate', { key, place })) ?? place.line;
}

/** Opens a recorded line where it is now, or the first line of its callers whose file is here, and leaves the focus where it is. */
export async function openPlace(
  server: FactsServer,
  key: string | undefined,
  place: Place,
  where: { readonly viewColumn?: vscode.ViewColumn } = {},
  callers: readonly Place[] = [],
): Promise<void> {
  for (const each of [place, ...callers]) {
    const start = new vscode.Position((await located(server, key, each)) - 1, 0);
    try {
      await vscode.window.showTextDocument(vscode.Uri.file(each.path), { ...where, selection: new vscode.Range(start, start), preserveFocus: true, preview: true });
      return;
    } catch {
      continue; // it is not on this machine
    }
  }
  void vscode.window.showWarningMessage(vscode.l10n.t('{0} is not on this machine, or was deleted since it was recorded.', place.path));
}

/** Saves a text as a file that the user chooses, and says so with `saved`. */
export async function save(text: string, name: string, filters: Readonly<Record<string, string[]>>, saved: (file: string) => string): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const proposed = name.replaceAll(/[/\\:]/g, '-');
  const file = await vscode.window.showSaveDialog({ ...(folder && { defaultUri: vscode.Uri.joinPath(folder, proposed) }), filters });
  if (!file) return;
  await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(text));
  void vscode.window.showInformationMessage(saved(file.fsPath));
}

/** Opens a document of a row of the run `key`, at a line from 1 or, of output code, at the first kernel; its URI names it also after a restart. */
export async function openDocument(document: RecordedDocument | undefined, key: string | undefined, line?: number): Promise<void> {
  if (!document) return;
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${document.name}`, query: JSON.stringify([key, document.id]) });
  const shown = await vscode.workspace.openTextDocument(uri);
  const first = line ?? (/output code( \(\d+\))?$/.test(document.id) ? firstKernel(shown.getText()) : undefined);
  const start = first && new vscode.Position(first - 1, 0);
  await vscode.window.showTextDocument(shown, { viewColumn: besidePicture(), preserveFocus: true, preview: true, ...(start && { selection: new vscode.Range(start, start) }) });
}

/** The column in which a text does not hide a picture. */
function besidePicture(): vscode.ViewColumn {
  const { activeTab, viewColumn } = vscode.window.tabGroups.activeTabGroup;
  if (!(activeTab?.input instanceof vscode.TabInputWebview)) return vscode.ViewColumn.Active;
  return viewColumn === vscode.ViewColumn.One ? vscode.ViewColumn.Beside : vscode.ViewColumn.One;
}

/** The line, from 1, where the first kernel or call of output code begins, with the comments above it that say what it is from. */
export function firstKernel(text: string): number | undefined {
  const lines = text.split('\n');
  let first = lines.findIndex((each) => /^\w+ = async_compile\.|^ +(?:\w+ = )?extern_kernels\./.test(each));
  if (first < 0) return undefined;
  while (lines[first - 1]?.trimStart().startsWith('#')) first -= 1;
  return first + 1;
}

/** The documents as read-only files: editors of these are opened again after a window reload, other documents are not. */
class RecordedFiles implements vscode.FileSystemProvider {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  readonly createDirectory = refuse;
  readonly writeFile = refuse;
  readonly delete = refuse;
  readonly rename = refuse;

  constructor(private readonly server: FactsServer) {}

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined); // what was recorded does not change
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: (await this.readFile(uri)).length };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const [key, document] = named(uri);
    const text = await this.server.request<string | null>('dynascope/document', { key, document });
    return new TextEncoder().encode(text ?? vscode.l10n.t('The language server does not run, or nothing is recorded there any more.'));
  }

  readDirectory(): [] {
    return [];
  }
}

function refuse(): never {
  throw vscode.FileSystemError.NoPermissions(vscode.l10n.t('What was recorded cannot be changed.'));
}

/** Registers the documents, their links, and Go to Definition from a node to its line. */
export function recordedDocuments(server: FactsServer): vscode.Disposable[] {
  return [
    vscode.workspace.registerFileSystemProvider(SCHEME, new RecordedFiles(server), { isReadonly: true }),
    vscode.languages.registerDocumentLinkProvider(SELECTOR, {
      provideDocumentLinks: (document) =>
        places(document.getText()).map(({ line, start, end, path, target }) => {
          const range = new vscode.Range(new vscode.Position(line, start), new vscode.Position(line, end));
          return new RecordedLink(range, named(document.uri)[0], { path, line: target });
        }),
      resolveDocumentLink: async (link) => {
        const { key, place } = link as RecordedLink;
        link.target = vscode.Uri.file(place.path).with({ fragment: `L${await located(server, key, place)}` });
        return link;
      },
    }),
    vscode.languages.registerDefinitionProvider(SELECTOR, {
      provideDefinition: async (document, { line }) => {
        const place = placeOf(document.getText(), line);
        if (!place) return undefined;
        const now = await located(server, named(document.uri)[0], place);
        return new vscode.Location(vscode.Uri.file(place.path), new vscode.Position(now - 1, 0));
      },
    }),
  ];
}

/** The line of the program that a line of a graph is from: its own comment's, or the first one above its group of nodes. */
export function placeOf(text: string, line: number): Place | undefined {
  const first = text.split('\n').lastIndexOf('', line) + 1;
  const found = places(text).filter((each) => each.line >= first && each.line <= line);
  const place = found.find((each) => each.line === line) ?? found[0];
  return place && { path: place.path, line: place.target };
}

function named(uri: vscode.Uri): [string, string] {
  return JSON.parse(uri.query) as [string, string];
}
