// Records a run of the file in the editor without debugging it: a task that runs `dynascope run`.
import * as path from 'node:path';
import * as vscode from 'vscode';
import { findInterpreter } from '../environment/interpreter';
import type { ReportProblem } from '../debugging/configuration';
import { isProblem, preflight } from '../environment/preflight';
import type { Explorer } from './explorer';

const TYPE = 'dynascope';

/** Returns the command: it runs the file in a terminal, and the view shows that, and what was recorded when it has ended. */
export function recordFile(report: ReportProblem, { recording, show }: Pick<Explorer, 'recording' | 'show'>): (resource?: vscode.Uri) => Promise<void> {
  const record = async (resource?: vscode.Uri): Promise<void> => {
    const document = vscode.window.activeTextEditor?.document;
    const chosen = resource && 'scheme' in resource ? resource : undefined; // the title of the view gives the row with the focus
    const file = chosen ?? (document?.languageId === 'python' ? document.uri : undefined);
    if (file?.scheme !== 'file') {
      void vscode.window.showInformationMessage(vscode.l10n.t('Open the Python file to record first.'));
      return;
    }
    const folder = vscode.workspace.getWorkspaceFolder(file);
    const cwd = folder?.uri.fsPath ?? path.dirname(file.fsPath);
    const interpreter = await findInterpreter(file);
    const outcome = await preflight(interpreter, cwd, true);
    if (isProblem(outcome)) {
      report(outcome, () => record(file), file);
      return;
    }
    await vscode.workspace.saveAll(false);
    const [command, ...given] = interpreter.command;
    const run = new vscode.ProcessExecution(command, [...given, '-P', '-m', 'dynascope', 'run', path.relative(cwd, file.fsPath)], { cwd });
    const task = new vscode.Task({ type: TYPE }, folder ?? vscode.TaskScope.Global, vscode.l10n.t('Record {0}', path.basename(file.fsPath)), 'Dynascope', run);
    task.presentationOptions = { clear: true, showReuseMessage: false };
    recording(path.basename(file.fsPath));
    let execution: vscode.TaskExecution;
    try {
      execution = await vscode.tasks.executeTask(task);
    } catch (error) {
      await show();
      throw error;
    }
    const ended = vscode.tasks.onDidEndTask((end) => {
      if (end.execution !== execution) return;
      ended.dispose();
      void show();
    });
  };
  return record;
}
