// From graphs and output code to the lines they are from (`# File: /home/me/model.py:10 in forward` is a link), and back.
import * as vscode from 'vscode';
import { DEBUG_TYPE } from '../debugging/configuration';
import { say } from '../debugging/debugConsole';

/** Documents of debug sessions. */
const DOCUMENTS: vscode.DocumentFilter = { scheme: 'debug' };
const PLACE = /# (?:called at |Backward of forward node: )?File: (.+?):(\d+)(?= in )/g;

/** The places in a text, each with the columns that it takes in its line. */
export function places(text: string): { line: number; start: number; end: number; path: string; target: number }[] {
  return text.split('\n').flatMap((row, line) =>
    [...row.matchAll(PLACE)].map((found) => {
      const [whole, path = '', target] = found;
      const end = found.index + whole.length;
      return { line, start: end - `${path}:${target}`.length, end, path, target: Number(target) };
    }),
  );
}

export function formLinks(): vscode.Disposable[] {
  return [
    vscode.commands.registerCommand('dynascope.formsOfLine', formsOfLine),
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

/** Writes to the debug console what was made of the line that the cursor is on, and opens what the user chooses of it. */
async function formsOfLine(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== DEBUG_TYPE || !editor) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Put the cursor on a line of the program that is debugged first.'));
    return;
  }
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
  const items = madeOf(answer).map((each) => ({ label: each.text, description: `${each.name}:${each.line}`, ...each }));
  const placeHolder = vscode.l10n.t('What was made of this line: choose what to open');
  const chosen = await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true });
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
