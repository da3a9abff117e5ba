// From graphs and output code to the lines they are from (`# File: /home/me/model.py:10 in forward` is a link), and back.
import * as vscode from 'vscode';
import { DEBUG_TYPE } from '../debugging/configuration';
import { say } from '../debugging/debugConsole';
import { NOTHING_RECORDED, type FactsServer, type RecordedDocument, type Row } from './factsServer';
import { places } from './places';
import { openDocument } from './recordedDocuments';

/** Documents of debug sessions. */
const DOCUMENTS: vscode.DocumentFilter = { scheme: 'debug' };
export function formLinks(server: FactsServer): vscode.Disposable[] {
  return [
    vscode.commands.registerCommand('dynascope.formsOfLine', () => formsOfLine(server)),
    vscode.languages.registerDocumentLinkProvider(DOCUMENTS, {
      provideDocumentLinks: (document) =>
        places(document.getText()).map(({ line, start, end, path, target }) => {
          const range = new vscode.Range(line, start, line, end);
          return new vscode.DocumentLink(range, vscode.Uri.file(path).with({ fragment: `L${target}` }));
        }),
    }),
  ];
}

/** The document, line and text of all that an answer of `forms from` lists: documents, and below each its lines. */
export function madeOf(answer: string): { name: string; line: number; text: string }[] {
  let name = '';
  return answer.split('\n').flatMap((row) => {
    const found = /^\s+(\d+)\s+(\S.*)$/.exec(row);
    if (found) return [{ name, line: Number(found[1]), text: found[2] ?? '' }];
    name = row;
    return [];
  });
}

/** What was made of a line in a recorded run, as the server's request `dynascope/madeOfLine` tells it. */
interface Made {
  readonly key: string;
  /** `forward [0/0] output code`. */
  readonly name: string;
  readonly document: RecordedDocument;
  readonly line: number;
  readonly text: string;
}

/** Opens what the user chooses of all that was made of the line that the cursor is on: in the session, or in the last run. */
async function formsOfLine(server: FactsServer): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const session = vscode.debug.activeDebugSession;
  if (editor?.document.uri.scheme !== 'file') {
    void vscode.window.showInformationMessage(vscode.l10n.t('Put the cursor on a line of the program first.'));
    return;
  }
  await (session?.type === DEBUG_TYPE ? formsInSession(editor, session) : recordedForms(server, editor));
}

async function recordedForms(server: FactsServer, editor: vscode.TextEditor): Promise<void> {
  const { document, selection } = editor;
  const line = selection.active.line + 1;
  const made = (await server.request<Made[]>('dynascope/madeOfLine', { uri: document.uri.toString(), line })) ?? [];
  if (made.length === 0) {
    if (((await server.request<Row[]>('dynascope/rows', { keys: [] })) ?? []).length === 0) {
      void vscode.window.showInformationMessage(NOTHING_RECORDED);
      return;
    }
    const name = `${vscode.workspace.asRelativePath(document.uri.fsPath)}:${line}`;
    void vscode.window.showInformationMessage(vscode.l10n.t('Nothing in the graphs and the output code of the last run is from {0}.', name));
    return;
  }
  const chosen = await choose(made);
  if (chosen) await openDocument(chosen.document, chosen.key, chosen.line);
}

/** Lets the user choose one of the lines that were made of a line. */
async function choose<T extends { readonly name: string; readonly line: number; readonly text: string }>(made: readonly T[]): Promise<T | undefined> {
  const items = made.map((each) => ({ label: each.text, description: `${each.name}:${each.line}`, each }));
  const placeHolder = vscode.l10n.t('What was made of this line: choose what to open');
  return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true }))?.each;
}

/** Writes to the debug console what was made of a line, and opens what the user chooses of it. */
async function formsInSession(editor: vscode.TextEditor, session: vscode.DebugSession): Promise<void> {
  const expression = `forms from ${editor.document.uri.fsPath}:${editor.selection.active.line + 1}`;
  try {
    const answer = (await session.customRequest('evaluate', { expression, context: 'repl' })) as { result: string };
    await say(session, answer.result);
    await openOneOf(answer.result, session);
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}

async function openOneOf(answer: string, session: vscode.DebugSession): Promise<void> {
  const chosen = await choose(madeOf(answer));
  if (!chosen) {
    await vscode.commands.executeCommand('workbench.debug.action.focusRepl');
    return;
  }
  const { sources } = (await session.customRequest('loadedSources')) as { sources: (vscode.DebugProtocolSource & { name: string })[] };
  const source = sources.find(({ name }) => name === chosen.name);
  if (!source) return;
  const start = new vscode.Position(chosen.line - 1, 0);
  await vscode.window.showTextDocument(vscode.debug.asDebugSourceUri(source, session), { selection: new vscode.Range(start, start) });
}
