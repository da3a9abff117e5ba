// Installs the Python package that comes with the extension, in a terminal where the user sees what pip does.
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';

/** Returns what pip is to install: the wheel in the package of the extension, or the checkout that the extension runs from. */
export function bundled(extension: vscode.Uri): string {
  const folder = path.join(extension.fsPath, 'wheel');
  const wheel = fs.existsSync(folder) ? fs.readdirSync(folder).find((name) => name.endsWith('.whl')) : undefined;
  return wheel ? path.join(folder, wheel) : path.dirname(extension.fsPath);
}

/** Runs `command` (an interpreter, then `-m pip install`) for `source` in a terminal; returns whether it succeeded. */
export async function install([python = '', ...command]: readonly string[], source: string): Promise<boolean> {
  const run = new vscode.ProcessExecution(python, [...command, source]);
  const task = new vscode.Task({ type: 'dynascope' }, vscode.TaskScope.Global, vscode.l10n.t('Install dynascope'), 'Dynascope', run);
  const execution = await vscode.tasks.executeTask(task);
  return new Promise((resolve) => {
    const ended = vscode.tasks.onDidEndTaskProcess((end) => {
      if (end.execution !== execution) return;
      ended.dispose();
      resolve(end.exitCode === 0);
    });
  });
}
