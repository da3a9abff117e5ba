// Commands of the Call Stack view about one thread: resume it alone (the editor's own buttons resume all), and ask why.
import * as vscode from 'vscode';
import { DEBUG_TYPE } from './configuration';
import { say } from './debugConsole';

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
      vscode.commands.registerCommand(command, (thread?: CallStackThread) => about(sessions, thread, alone(request))),
    ),
    vscode.commands.registerCommand('dynascope.why', (thread?: CallStackThread) => about(sessions, thread, why)),
  ];
}

type Ask = (session: vscode.DebugSession, threadId: number) => Thenable<unknown>;

function alone(request: string): Ask {
  return (session, threadId) => session.customRequest(request, { threadId, singleThread: true });
}

/** Writes to the debug console why the function that the thread traces is compiled again. */
async function why(session: vscode.DebugSession, threadId: number): Promise<void> {
  const { stackFrames } = (await session.customRequest('stackTrace', { threadId, levels: 1 })) as { stackFrames: { id: number }[] };
  const asked = { expression: 'why?', frameId: stackFrames[0]?.id, context: 'repl' };
  const answer = (await session.customRequest('evaluate', asked)) as { result: string };
  await say(session, answer.result);
  await vscode.commands.executeCommand('workbench.debug.action.focusRepl');
}

async function about(sessions: ReadonlyMap<string, vscode.DebugSession>, thread: CallStackThread | undefined, ask: Ask): Promise<void> {
  const selected = vscode.debug.activeStackItem;
  const session = sessions.get(thread?.sessionId ?? selected?.session.id ?? '');
  const threadId = thread ? Number(thread.threadId.split(':').pop()) : selected?.threadId;
  if (!session || threadId === undefined) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Select a stopped thread in the Call Stack view first.'));
    return;
  }
  try {
    await ask(session, threadId);
  } catch (error) {
    void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
  }
}
