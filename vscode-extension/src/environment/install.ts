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

/** Runs `command` (`pip install` of an interpreter, or uv's) for `source` in a terminal; says where it fails, and returns whether it succeeded. */
export async function install([program = '', ...given]: readonly string[], source: string): Promise<boolean> {
  const run = new vscode.ProcessExecution(program, [...given, source]);
  const task = new vscode.Task({ type: 'dynascope', task: 'install' }, vscode.TaskScope.Global, vscode.l10n.t('Install dynascope'), 'Dynascope', run);
  const execution = await vscode.tasks.executeTask(task);
  const succeeded = await new Promise<boolean>((resolve) => {
    const listeners = [
      vscode.tasks.onDidEndTaskProcess((end) => settle(end.execution, end.exitCode === 0)),
      vscode.tasks.onDidEndTask((end) => settle(end.execution, false)), // one that was terminated, or never began
    ];
    const settle = (of: vscode.TaskExecution, outcome: boolean): void => {
      if (of !== execution) return;
      listeners.forEach((each) => void each.dispose());
      resolve(outcome);
    };
  });
  if (!succeeded) void vscode.window.showErrorMessage(vscode.l10n.t('dynascope was not installed; the terminal says why. By hand: {0}', [program, ...given, source].join(' ')));
  return succeeded;
}
