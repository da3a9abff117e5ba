// Show as Picture: the graph of a recorded compile as boxes that fold, in a panel of its own.
import * as vscode from 'vscode';
import type { FactsServer } from './explorer';
import type { Graph, Place } from './graph/folding';
import { openPlace, save, type RecordedDocument } from './recordedDocuments';

/** The response of the server's request `dynascope/graph`. */
interface Graphs {
  readonly title: string;
  readonly graphs: readonly Graph[];
}

const GONE = 'The graph of this compile is not recorded any more.';

type Message = { readonly type: 'ready' } | { readonly type: 'open'; readonly place: Place } | { readonly type: 'save'; readonly svg: string };

export const GRAPH = 'dynascope.graph';

/** Opens the picture of the graph that a document of a row of the run `key` has. */
export async function showPicture(server: FactsServer, extension: vscode.Uri, document: RecordedDocument | undefined, key: string): Promise<void> {
  const found = document && (await graphs(server, key, document.id));
  if (!found) {
    void vscode.window.showInformationMessage(GONE);
    return;
  }
  const options = { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [vscode.Uri.joinPath(extension, 'dist')] };
  const panel = vscode.window.createWebviewPanel(GRAPH, found.title, vscode.ViewColumn.Beside, options);
  fillPicture(panel, server, extension, key, document.id, found);
}

/** Puts the page into a panel; into one that VS Code has kept over a reload without the graph, which is asked for. */
export function fillPicture(panel: vscode.WebviewPanel, server: FactsServer, extension: vscode.Uri, key: string, document: string, found?: Graphs): void {
  panel.webview.onDidReceiveMessage(async (message: Message) => {
    if (message.type === 'save') await save(message.svg, `${panel.title}.svg`, { SVG: ['svg'] }, 'The picture is saved as');
    else if (message.type === 'open') await openPlace(server, key, message.place, { viewColumn: vscode.ViewColumn.One });
    else {
      const sent = found ?? (await graphs(server, key, document));
      if (sent) await panel.webview.postMessage({ ...sent, state: { key, document } });
      else void vscode.window.showInformationMessage(GONE);
    }
  });
  const script = vscode.Uri.joinPath(extension, 'dist', 'graph.js');
  panel.webview.html = page(panel.webview.asWebviewUri(script).toString(), panel.webview.cspSource);
}

async function graphs(server: FactsServer, key: string, document: string): Promise<Graphs | null | undefined> {
  return server.request<Graphs | null>('dynascope/graph', { key, document });
}

/** The page: it loads one script, the extension's own, and nothing else. */
export function page(script: string, source: string): string {
  const policy = `default-src 'none'; script-src ${source}; style-src 'unsafe-inline'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Graph</title>
<style id="style">
.box rect { fill: var(--vscode-editorWidget-background); stroke: var(--vscode-editorWidget-border, var(--vscode-foreground)); }
.box text, .edge text { fill: var(--vscode-foreground); font-size: 12px; text-anchor: middle; }
.box .title { text-anchor: start; font-weight: bold; }
.box .detail, .edge text { fill: var(--vscode-descriptionForeground); font-size: 11px; }
.box.input rect { stroke-dasharray: 4 3; }
.box.module rect, .box.part rect { stroke: var(--vscode-charts-blue); }
.box.line rect { stroke: var(--vscode-charts-green); }
.box.unfolded rect { fill-opacity: 0.35; }
.edge text { paint-order: stroke; stroke: var(--vscode-editor-background); stroke-width: 4px; }
.edge path { fill: none; stroke: var(--vscode-descriptionForeground); }
marker path { fill: var(--vscode-descriptionForeground); }
.box.selected rect { stroke: var(--vscode-focusBorder); stroke-width: 3; }
.edge.selected path { stroke: var(--vscode-focusBorder); stroke-width: 2; }
/* page */
html, body { height: 100%; margin: 0; padding: 0; overflow: hidden; }
body { display: flex; flex-direction: column; }
#tools, #details { display: flex; gap: 6px; padding: 6px; }
#details { min-height: 2.6em; max-height: 25%; overflow: auto; white-space: pre-wrap; border-top: 1px solid var(--vscode-panel-border); }
#picture { flex: 1; min-height: 0; width: 100%; cursor: grab; }
#picture:focus { outline: 1px solid var(--vscode-focusBorder); outline-offset: -1px; }
.box { cursor: pointer; }
button, input, select { font: inherit; color: var(--vscode-input-foreground); background: var(--vscode-input-background); border: 1px solid var(--vscode-input-border, var(--vscode-descriptionForeground)); padding: 2px 8px; }
button { color: var(--vscode-button-foreground); background: var(--vscode-button-background); border: none; cursor: pointer; }
#search { flex: 1; }
</style>
</head>
<body>
<div id="tools" role="toolbar" aria-label="Graph">
<select id="graphs" aria-label="Graph"></select>
<input id="search" type="search" placeholder="Search names, modules, shapes, lines (/)" aria-label="Search">
<button id="fold">Fold All</button>
<button id="fit">Fit</button>
<button id="save">Save as SVG</button>
</div>
<svg id="picture" tabindex="0" role="tree" aria-label="Graph" aria-describedby="details"></svg>
<div id="details" role="status" aria-live="polite"></div>
<script src="${script}"></script>
</body>
</html>
`;
}
