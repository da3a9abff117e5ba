// Writes to the debug console by way of the adapter: VS Code shows what extensions write there in the colour of warnings.
import type * as vscode from 'vscode';

/** Shows lines in the debug console of a session. */
export async function say(session: vscode.DebugSession, text: string): Promise<void> {
  await session.customRequest('dynascopeSay', { text });
}
