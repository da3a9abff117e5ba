// The language client, in a bundle of its own: the extension activates before it is loaded.
import { LanguageClient } from 'vscode-languageclient/node';

export { CloseAction, ErrorAction } from 'vscode-languageclient/node';

/** A client that writes its pop-ups to the log instead: `LanguageServer` decides what the user is shown. */
export class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}
