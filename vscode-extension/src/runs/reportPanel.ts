// Shows the report of recorded facts in a panel: a browser outside the editor cannot open a file of a remote machine.
import * as vscode from 'vscode';
import type { CancellationToken, ShowDocumentParams, ShowDocumentRequest, ShowDocumentResult } from 'vscode-languageclient';

let panel: vscode.WebviewPanel | undefined;

/** Shows a page on the language server's disk that it requests to show externally. Only the page's own script may run. */
export async function showDocument(params: ShowDocumentParams, next: ShowDocumentRequest.HandlerSignature): Promise<ShowDocumentResult> {
  const uri = vscode.Uri.parse(params.uri);
  if (!params.external || uri.scheme !== 'file') return (await next(params, {} as CancellationToken)) as ShowDocumentResult;
  const page = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  if (!panel) {
    panel = vscode.window.createWebviewPanel('dynascope.report', vscode.l10n.t('Dynascope Report'), vscode.ViewColumn.Active, { enableFindWidget: true, enableScripts: true });
    panel.webview.onDidReceiveMessage(open);
    panel.onDidDispose(() => (panel = undefined));
  }
  panel.webview.html = page;
  panel.reveal();
  return { success: true };
}

/** A place on the page was clicked. */
async function open({ path, line }: { readonly path: string; readonly line: number }): Promise<void> {
  const start = new vscode.Position(line - 1, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(path), { selection: new vscode.Range(start, start) });
}
