// The status bar item of the last run: whether it is being recorded, and what went wrong in it.
import * as vscode from 'vscode';
import type { Row } from './factsServer';
import { findInterpreter } from '../environment/interpreter';

/** Returns what shows the newest run, and hides the item where nothing was recorded. */
export function lastRun(): { readonly item: vscode.StatusBarItem; readonly show: (newest: Row | undefined) => Promise<void> } {
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, -900);
  item.name = vscode.l10n.t('Dynascope: the last run');
  item.command = { command: 'dynascope.runs.focus', title: vscode.l10n.t('Show the Runs') };
  const show = async (newest: Row | undefined): Promise<void> => {
    if (!newest?.brief) {
      item.hide();
      return;
    }
    const { command, origin } = await findInterpreter(vscode.workspace.workspaceFolders?.[0]?.uri);
    item.text = `$(${newest.icon ?? 'type-hierarchy'}) ${newest.label.split(' ')[0] ?? ''}: ${newest.brief}`;
    item.tooltip = [newest.tooltip ?? newest.label, vscode.l10n.t('Interpreter: {0} ({1})', command.join(' '), origin), vscode.l10n.t('A click shows the view of runs.')].join('\n');
    item.show();
  };
  return { item, show };
}
