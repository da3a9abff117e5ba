// Writes to the debug console by way of the adapter: VS Code shows what extensions write there in the colour of warnings.
import * as vscode from 'vscode';

/** Shows lines in the debug console of a session; itself if the adapter cannot, such as an older one. */
export async function say(session: vscode.DebugSession, text: string): Promise<void> {
  try {
    await session.customRequest('dynascopeSay', { text });
  } catch {
    vscode.debug.activeDebugConsole.appendLine(text);
  }
}
