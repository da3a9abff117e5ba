// Warns when a session that was started to stop at one place ends without a stop, with the adapter's reason if there is one.
import type { DebugProtocol } from '@vscode/debugprotocol';
import * as vscode from 'vscode';

/** The key in a launch configuration for the place that the session is started for, `Model.forward`. */
export const AWAITED = '__dynascopeAwaited';

interface Heard {
  stopped: boolean;
  exitCode: number | undefined;
  why: string | undefined;
}

const heard = new Map<string, Heard>();

export const missedStops: vscode.DebugAdapterTrackerFactory = {
  createDebugAdapterTracker: (session) => {
    let root = session;
    while (root.parentSession) root = root.parentSession;
    const awaited: unknown = root.configuration[AWAITED];
    if (typeof awaited !== 'string') return undefined;
    const known = heard.get(root.id) ?? { stopped: false, exitCode: undefined, why: undefined };
    heard.set(root.id, known);
    return {
      onDidSendMessage(message: DebugProtocol.ProtocolMessage) {
        if (message.type === 'event') listen(known, message as DebugProtocol.Event);
      },
      onWillReceiveMessage(message: DebugProtocol.Request) {
        // A user who ends the session knows that there was no stop.
        if (message.command === 'terminate' || (message.command === 'disconnect' && known.exitCode === undefined)) known.stopped = true;
      },
      onWillStopSession() {
        if (session !== root) return;
        heard.delete(root.id);
        if (!known.stopped) void vscode.window.showWarningMessage(text(awaited, known));
      },
    };
  },
};

function listen(known: Heard, { event, body }: DebugProtocol.Event): void {
  if (event === 'stopped') known.stopped = true;
  if (event === 'exited') known.exitCode = (body as DebugProtocol.ExitedEvent['body']).exitCode;
  const { message } = event === 'breakpoint' ? (body as DebugProtocol.BreakpointEvent['body']).breakpoint : {};
  if (message?.startsWith('Never hit.')) known.why = message;
}

function text(awaited: string, { exitCode, why }: Heard): string {
  const ended = exitCode
    ? vscode.l10n.t('The program ended with exit code {0} and the compiler did not stop at {1}.', exitCode, awaited)
    : vscode.l10n.t('The program ended and the compiler did not stop at {0}.', awaited);
  return `${ended} ${why ?? vscode.l10n.t('The Debug Console shows the output of the session.')}`;
}
