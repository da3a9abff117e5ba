// Hides shape hints while a session is stopped: they belong to the last finished compile, inline values to the current one.
import type { DebugProtocol } from '@vscode/debugprotocol';
import * as vscode from 'vscode';
import type { InlayHintsMiddleware } from 'vscode-languageclient';

const stopped = new Set<string>();
const changed = new vscode.EventEmitter<void>();

/** Fired when the hints on the lines change. */
export const onHintsChanged = changed.event;

export const provideInlayHints: InlayHintsMiddleware['provideInlayHints'] = (document, range, token, next) =>
  stopped.size > 0 ? [] : next(document, range, token);

export const hintsAtStops: vscode.DebugAdapterTrackerFactory = {
  createDebugAdapterTracker: ({ id }) => {
    const goesOn = (): void => {
      if (stopped.delete(id)) changed.fire();
    };
    return {
      onDidSendMessage(message: DebugProtocol.ProtocolMessage) {
        if (message.type !== 'event' || (message as DebugProtocol.Event).event !== 'stopped' || stopped.has(id)) return;
        stopped.add(id);
        changed.fire();
      },
      // Not at a step, which soon stops again: the lines would flicker.
      onWillReceiveMessage(message: DebugProtocol.Request) {
        if (message.command === 'continue') goesOn();
      },
      onWillStopSession: goesOn,
      onExit: goesOn,
    };
  },
};
