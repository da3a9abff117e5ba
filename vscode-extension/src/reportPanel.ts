// The report of what was recorded, in a panel: a browser beside the editor cannot open a file of a remote machine.
import * as vscode from 'vscode';
import type { CancellationToken, ShowDocumentParams, ShowDocumentRequest, ShowDocumentResult } from 'vscode-languageclient';

let panel: vscode.WebviewPanel | undefined;

/** The language server asks for a page on its disk to be shown outside of the editor. It holds no script. */
export async function showDocument(params: ShowDocumentParams, next: ShowDocumentRequest.HandlerSignature): Promise<ShowDocumentResult> {
  const uri = vscode.Uri.parse(params.uri);
  if (!params.external || uri.scheme !== 'file') return (await next(params, {} as CancellationToken)) as ShowDocumentResult;
  const page = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  if (!panel) {
    panel = vscode.window.createWebviewPanel('dynascope.report', 'Dynascope Report', vscode.ViewColumn.Active, { enableFindWidget: true });
    panel.onDidDispose(() => (panel = undefined));
  }
  panel.webview.html = page;
  panel.reveal();
  return { success: true };
}
