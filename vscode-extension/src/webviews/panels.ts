// Panels with a page of the extension: it runs one script, which is in it, loads nothing, and comes back after a window reload.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { escaped } from './svg';

/** A page: tools with a search, a picture, and below it what is said of what is selected. */
export interface Page {
  /** The type of its panels. */
  readonly type: string;
  /** The name of its script in `dist`. */
  readonly script: string;
  readonly name: string;
  /** What can be searched. */
  readonly searched: string;
  /** The labels of its buttons, by id. */
  readonly buttons: Readonly<Record<string, string>>;
  /** HTML of the picture, in which an svg has the id `picture`. */
  readonly picture: string;
  /** HTML before the search. */
  readonly before?: string;
  readonly style: string;
  /** What is said where there is nothing to show any more. */
  readonly gone: string;
}

/** What VS Code keeps of a panel: the run that it is of, and of a picture the document and what it is compared with. */
export interface PanelState {
  readonly key: string;
  readonly document?: string;
  readonly other?: { readonly key: string; readonly document: string; readonly title: string };
}

const STYLE = `
html, body { height: 100%; margin: 0; padding: 0; overflow: hidden; }
body { display: flex; flex-direction: column; }
#tools, #legend { display: flex; flex-wrap: wrap; gap: 6px; padding: 6px; }
#details { padding: 6px; min-height: 2.6em; max-height: 25%; overflow: auto; white-space: pre-wrap; border-top: 1px solid var(--vscode-panel-border); }
#picture { width: 100%; cursor: grab; }
#picture:focus { outline: 1px solid var(--vscode-focusBorder); outline-offset: -1px; }
button, input, select { font: inherit; color: var(--vscode-input-foreground); background: var(--vscode-input-background); border: 1px solid var(--vscode-input-border, var(--vscode-descriptionForeground)); padding: 2px 8px; }
button { color: var(--vscode-button-foreground); background: var(--vscode-button-background); border: 1px solid var(--vscode-contrastBorder, transparent); cursor: pointer; }
#search { flex: 1; min-width: 8em; }
`;

export function openPanel({ type }: Page, title: string, column: vscode.ViewColumn, preserveFocus = false): vscode.WebviewPanel {
  return vscode.window.createWebviewPanel(type, title, { viewColumn: column, preserveFocus }, { retainContextWhenHidden: true });
}

/** Milliseconds that the page of a panel may take to load. */
const LOADS_IN = 10_000;

/** Fills panels again that VS Code has kept over a window reload, with the state that `fillPanel` has given to their pages. */
export function keptPanels(page: Page, fill: (panel: vscode.WebviewPanel, state: PanelState) => void): vscode.Disposable {
  const deserializeWebviewPanel = (panel: vscode.WebviewPanel, state: PanelState | undefined): Promise<void> => {
    if (state) void load(panel, page, state, fill);
    else panel.dispose(); // its page was never loaded
    return Promise.resolve();
  };
  return vscode.window.registerWebviewPanelSerializer(page.type, { deserializeWebviewPanel });
}

/** Whether the page of a panel loads in time; one that is closed before is not waited for. */
function loads(panel: vscode.WebviewPanel): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), LOADS_IN);
    const end = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    panel.webview.onDidReceiveMessage(end);
    panel.onDidDispose(end);
  });
}

/**
 * Fills a panel and waits until its page has loaded; opens another panel in its place where it does not load in time.
 * In a browser, VS Code leaves one of several panels empty that open at once: their service workers wait for each other.
 */
export async function load(panel: vscode.WebviewPanel, page: Page, state: PanelState, fill: (panel: vscode.WebviewPanel, state: PanelState) => void): Promise<void> {
  const loaded = loads(panel);
  fill(panel, state);
  if (await loaded) return;
  const other = openPanel(page, panel.title, panel.viewColumn ?? vscode.ViewColumn.Active, true);
  const otherLoaded = loads(other);
  panel.dispose();
  fill(other, state);
  await otherLoaded;
}

/** Puts a page into a panel, a new one or one that was kept: `contents` when it asks for them; `receive` gets its other messages. */
export function fillPanel(
  panel: vscode.WebviewPanel,
  page: Page,
  extension: vscode.Uri,
  state: PanelState,
  contents: () => Promise<object | undefined>,
  receive: (message: never) => Promise<void>,
): void {
  const { webview } = panel;
  webview.options = { enableScripts: true, localResourceRoots: [] };
  const fill = async (): Promise<void> => {
    const found = await contents();
    if (found) await webview.postMessage(found);
    else {
      void vscode.window.showInformationMessage(page.gone);
      panel.dispose();
    }
  };
  webview.onDidReceiveMessage((message: { readonly type: string }) => (message.type === 'ready' ? fill() : receive(message as never)));
  // not loaded by its address: in a browser, where several panels come back at once, some of them were answered that it is not there
  const script = readFileSync(vscode.Uri.joinPath(extension, 'dist', page.script).fsPath, 'utf8');
  webview.html = html(page, script, state);
}

function html({ name, searched, buttons, picture, before = '', style }: Page, script: string, state: PanelState): string {
  const nonce = randomUUID();
  const tools = Object.entries(buttons).map(([id, label]) => `<button id="${id}">${escaped(label)}</button>`);
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline'">
<title>${escaped(name)}</title>
<style id="style">${style}/* page */${STYLE}</style>
</head>
<body data-texts="${escaped(JSON.stringify(vscode.l10n.bundle ?? {}))}" data-state="${escaped(JSON.stringify(state))}">
<div id="tools" role="toolbar" aria-label="${escaped(name)}">
${before}<input id="search" type="search" placeholder="${escaped(searched)}" aria-label="${escaped(vscode.l10n.t('Search'))}">
${tools.join('\n')}
</div>
${picture}
<div id="details" role="status" aria-live="polite"></div>
<script nonce="${nonce}">${script}</script>
</body>
</html>
`;
}
