// ${command:pickProcess} in an attach configuration: choose one of the running Python processes.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as vscode from 'vscode';

export interface ProcessItem extends vscode.QuickPickItem {
  readonly pid: string;
}

/** Returns the Python processes in the output of `ps -axo pid=,args=`, newest first, without `except`. */
export function pythonProcesses(ps: string, except: number): ProcessItem[] {
  const items: ProcessItem[] = [];
  for (const line of ps.split('\n')) {
    const match = /^\s*(\d+)\s+(\S+)(.*)$/.exec(line);
    const [, pid, executable, rest] = match ?? [];
    if (!pid || !executable || Number(pid) === except) continue;
    if (!/python[\d.]*$/i.test(executable.split('/').at(-1) ?? '')) continue;
    items.push({ pid, label: `${executable.split('/').at(-1) ?? ''}${rest ?? ''}`, description: pid, detail: executable });
  }
  return items.reverse();
}

/** Returns the process id, or undefined when the user cancels. */
export async function pickProcess(): Promise<string | undefined> {
  if (process.platform === 'win32') {
    return vscode.window.showInputBox({ title: vscode.l10n.t('Process id of the Python program'), placeHolder: '12345' });
  }
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,args=']);
  const items = pythonProcesses(stdout, process.pid);
  const picked = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Attach to a Python process'),
    placeHolder: items.length > 0 ? vscode.l10n.t('Program or process id') : vscode.l10n.t('No Python process is running'),
    matchOnDescription: true,
  });
  return picked?.pid;
}
