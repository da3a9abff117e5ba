// Compare Compiles: two compiles of a function side by side in a read-only document, at the first difference.
import * as vscode from 'vscode';
import { DEBUG_TYPE } from './configuration';

/** The response of the adapter's request `dynascopeCompare`, as far as it is shown. */
export interface Comparison {
  readonly left: string;
  readonly right: string;
  readonly function: string;
  readonly summary: readonly string[];
  readonly columns: readonly string[];
}

const SCHEME = 'dynascope-compare';
const MARK = '▶';

/** Registers the command and the documents that it opens. */
export function comparison(): vscode.Disposable[] {
  const texts = new Map<string, string>();
  const changed = new vscode.EventEmitter<vscode.Uri>();

  /** Compares a recompile with the compile that it replaces; without an event, the newest one. */
  async function compare(event?: { readonly compileId?: string }): Promise<void> {
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== DEBUG_TYPE) {
      void vscode.window.showInformationMessage(vscode.l10n.t('Start debugging to compare compiles here. To compare recorded ones, run: dynascope report --compare 0/0 0/1'));
      return;
    }
    try {
      const found = (await session.customRequest('dynascopeCompare', { right: event?.compileId })) as Comparison;
      const name = `${found.function} ${found.left} ${found.right}`.replaceAll('/', '.');
      const uri = vscode.Uri.parse(`${SCHEME}:/${encodeURIComponent(name)}`);
      const rows = [...found.summary, '', ...found.columns];
      texts.set(uri.toString(), rows.join('\n'));
      changed.fire(uri);
      const line = Math.max(0, rows.findIndex((row) => row.startsWith(MARK)));
      const start = new vscode.Position(line, 0);
      await vscode.window.showTextDocument(uri, { preview: true, selection: new vscode.Range(start, start) });
    } catch (error) {
      void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
    }
  }

  return [
    changed,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => texts.get(uri.toString()) ?? vscode.l10n.t('Run Compare Compiles again to see this comparison.'),
    }),
    vscode.commands.registerCommand('dynascope.compareCompiles', compare),
  ];
}
