/// <reference lib="dom" />
// Gives a page its texts in the language of the editor: it is imported before all that says something.
import { config } from '@vscode/l10n';

config({ contents: document.body.dataset['texts'] ?? '{}' });
