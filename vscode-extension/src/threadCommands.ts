// Commands of the Call Stack view that resume one thread only; the editor's own buttons resume all threads.
import * as vscode from 'vscode';
import { DEBUG_TYPE } from './configuration';

/** The editor's argument for a thread; `threadId` is `thread:SESSION:NUMBER`. */
export interface CallStackThread {
  readonly sessionId: string;
  readonly threadId: string;
}

/** The DAP request of each command. */
const REQUESTS: Readonly<Record<string, string>> = {
  'dynascope.continueThread': 'continue',
  'dynascope.stepThread': 'next',
};

/** Registers the commands. Child processes are sessions of their own, so a thread's session may not be the active one. */
export function threadCommands(): vscode.Disposable[] {
  const sessions = new Map<string, vscode.DebugSession>();
  return [
    vscode.debug.onDidStartDebugSession((session) => {
      if (session.type === DEBUG_TYPE) sessions.set(session.id, session);
    }),
    vscode.debug.onDidTerminateDebugSession((session) => void sessions.delete(session.id)),
    ...Object.entries(REQUESTS).map(([command, request]) =>
      vscode.commands.registerCommand(command, (thread?: CallStackThread) => alone(request, sessions, thread)),
    ),
  ];
}

async function alone(request: string, sessions: ReadonlyMap<string, vscode.DebugSession>, thread?: CallStackThread): Promise<void> {
  const selected = vscode.debug.activeStackItem;
  const session = sessions.get(thread?.sessionId ?? selected?.session.id ?? '');
  const threadId = thread ? Number(thread.threadId.split(':').pop()) : selected?.threadId;
  if (!session || threadId === undefined) {
    void vscode.window.showInformationMessage('Select a stopped thread in the Call Stack view first.');
    return;
  }
  try {
    await session.customRequest(request, { threadId, singleThread: true });
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}
