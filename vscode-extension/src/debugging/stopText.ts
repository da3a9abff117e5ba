// Shows why a program has stopped in the status bar. The workbench shows DAP's `text` only in a hover over "Paused".
import type { DebugProtocol } from '@vscode/debugprotocol';
import * as vscode from 'vscode';

const RESUMING = new Set(['continue', 'next', 'stepIn', 'stepOut', 'stepBack', 'reverseContinue', 'goto', 'restart', 'terminate', 'disconnect']);
const SHOWN = 160;

export const stopText: vscode.DebugAdapterTrackerFactory = {
  createDebugAdapterTracker: () => {
    // The item has no id: the workbench would show a new item with the text of an earlier one that had the same id.
    const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, -1_000);
    item.name = vscode.l10n.t('Dynascope: why it stopped');
    item.command = 'workbench.debug.action.focusCallStackView';
    return {
      onDidSendMessage(message: DebugProtocol.ProtocolMessage) {
        if (message.type !== 'event') return;
        const told = message as DebugProtocol.Event;
        if (told.event === 'stopped') show(item, told.body as DebugProtocol.StoppedEvent['body']);
        if (told.event === 'continued' || told.event === 'terminated') item.hide();
      },
      onWillReceiveMessage(message: DebugProtocol.Request) {
        if (RESUMING.has(message.command)) item.hide();
      },
      onWillStopSession: () => item.dispose(),
      onExit: () => item.dispose(),
    };
  },
};

/** Shows the text of a stop. The editor shows exceptions at the line, and a stop without a text needs none. */
function show(item: vscode.StatusBarItem, { reason, text }: DebugProtocol.StoppedEvent['body']): void {
  if (!text || reason === 'exception') {
    item.hide();
    return;
  }
  item.text = `$(debug-pause) ${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}`.replace(/\s+/g, ' ');
  item.tooltip = text;
  item.show();
}
