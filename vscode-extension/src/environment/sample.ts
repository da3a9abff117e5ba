// Open Sample Project: a folder with a program that breaks graphs and recompiles, for the first try.
import * as vscode from 'vscode';

const NAME = 'dynascope_sample.py';

/** Returns the command. The folder is the user's own copy, kept as it is if it is there already. */
export function openSample(context: vscode.ExtensionContext): () => Promise<void> {
  return async () => {
    const folder = folderOf(context);
    const file = vscode.Uri.joinPath(folder, NAME);
    try {
      await vscode.workspace.fs.copy(vscode.Uri.joinPath(context.extensionUri, 'walkthrough', 'sample', NAME), file);
    } catch {
      // it is there already, perhaps edited
    }
    const opened = vscode.workspace.workspaceFolders?.[0]?.uri;
    if (opened?.fsPath === folder.fsPath) await vscode.window.showTextDocument(file);
    else await vscode.commands.executeCommand('vscode.openFolder', folder, { forceNewWindow: opened !== undefined });
  };
}

/** Opens the program in the window of the sample that has just been opened. */
export async function showSample(context: vscode.ExtensionContext): Promise<void> {
  const opened = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (!opened || vscode.window.activeTextEditor) return;
  const folder = folderOf(context);
  if (opened.fsPath === folder.fsPath) await vscode.window.showTextDocument(vscode.Uri.joinPath(folder, NAME));
}

function folderOf({ globalStorageUri }: vscode.ExtensionContext): vscode.Uri {
  return vscode.Uri.joinPath(globalStorageUri, 'sample');
}
