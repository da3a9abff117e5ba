// Explains the name of a compile, such as [0/0], in the debug console where it is first seen.
import type { DebugProtocol } from '@vscode/debugprotocol';
import * as vscode from 'vscode';
import { say } from './debugConsole';

const TOLD = 'dynascope.toldCompileId';
const COMPILE_ID = /\[(\d+)\/(\d+)(?:_\d+)?\]$/;

/** Returns the tracker that says it once, in the first session that stops in a compile. */
export function firstStop(memory: vscode.Memento): vscode.DebugAdapterTrackerFactory {
  return {
    createDebugAdapterTracker: (session) => ({
      onDidSendMessage(message: DebugProtocol.Response) {
        if (message.type !== 'response' || message.command !== 'stackTrace' || !message.success || memory.get<boolean>(TOLD)) return;
        const { stackFrames } = message.body as DebugProtocol.StackTraceResponse['body'];
        const found = stackFrames.map(({ name }) => COMPILE_ID.exec(name)).find((each) => each !== null);
        if (!found) return;
        void memory.update(TOLD, true);
        const [name, func, compile] = found;
        void say(
          session,
          vscode.l10n.t(
            "{0} is a function that Dynamo compiles. {1} is Dynamo's name of this compile: {2} is the number of the function, {3} the number of its compile. A number after an underscore is that of the attempt. All of them count from 0. Frames without such a name belong to the running program.",
            ...[found.input, name, func, compile].map(String),
          ),
        );
      },
    }),
  };
}
