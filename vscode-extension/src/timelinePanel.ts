// Show Timeline: when everything in a recorded run happened, in a panel of its own.
import * as vscode from 'vscode';
import type { FactsServer } from './explorer';
import { openPlace, save, type Place } from './recordedDocuments';
import type { Timeline } from './runTimeline/lanes';

type Message =
  | { readonly type: 'ready' | 'save' }
  | { readonly type: 'open'; readonly place: Place }
  | { readonly type: 'reveal'; readonly compile: number; readonly run: number };

/** Selects a row of the view of runs, by its keys from the top. */
export type Reveal = (keys: readonly string[]) => Promise<void>;

export const TIMELINE = 'dynascope.runTimeline';
const NOTHING = 'Nothing was compiled in this run, or it was deleted.';

/** Opens the timeline of the run `key`. */
export async function showTimeline(server: FactsServer, extension: vscode.Uri, reveal: Reveal, key: string): Promise<void> {
  const found = await server.request<Timeline | null>('dynascope/timeline', { key });
  if (!found) {
    void vscode.window.showInformationMessage(NOTHING);
    return;
  }
  const options = { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [vscode.Uri.joinPath(extension, 'dist')] };
  const panel = vscode.window.createWebviewPanel(TIMELINE, found.title, vscode.ViewColumn.Active, options);
  fillTimeline(panel, server, extension, reveal, key);
}

/** Puts the page into a panel, a new one or one that VS Code has kept over a reload. It gets its data when it asks. */
export function fillTimeline(panel: vscode.WebviewPanel, server: FactsServer, extension: vscode.Uri, reveal: Reveal, key: string): void {
  panel.webview.onDidReceiveMessage(async (message: Message) => {
    if (message.type === 'open') await openPlace(server, key, message.place, { viewColumn: vscode.ViewColumn.Beside });
    else if (message.type === 'reveal') await reveal([key, `compiles:${message.run}`, `compile:${message.compile}`]);
    else if (message.type === 'save') await saveTrace(server, key, panel.title);
    else {
      const timeline = await server.request<Timeline | null>('dynascope/timeline', { key });
      if (timeline) await panel.webview.postMessage({ timeline, state: { key } });
      else void vscode.window.showInformationMessage(NOTHING);
    }
  });
  const script = vscode.Uri.joinPath(extension, 'dist', 'runTimeline.js');
  panel.webview.html = page(panel.webview.asWebviewUri(script).toString(), panel.webview.cspSource);
}

async function saveTrace(server: FactsServer, key: string, title: string): Promise<void> {
  const trace = await server.request<string | null>('dynascope/chromeTrace', { key });
  if (trace) await save(trace, `${title}.json`, { 'Chrome trace': ['json'] }, 'The trace is saved: Perfetto and chrome://tracing open');
  else void vscode.window.showInformationMessage('This run was recorded without times.');
}

/** The page: it loads one script, the extension's own, and nothing else. */
export function page(script: string, source: string): string {
  const policy = `default-src 'none'; script-src ${source}; style-src 'unsafe-inline'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Timeline</title>
<style>
html, body { height: 100%; margin: 0; padding: 0; overflow: hidden; }
body { display: flex; flex-direction: column; }
#tools, #legend, #details { display: flex; flex-wrap: wrap; gap: 6px; padding: 6px; }
#legend { padding-top: 0; }
#details { display: block; min-height: 2.6em; max-height: 25%; overflow: auto; border-top: 1px solid var(--vscode-panel-border); }
#area { flex: 1; min-height: 0; overflow-x: hidden; overflow-y: auto; }
#timeline { display: block; width: 100%; min-height: 100%; cursor: grab; }
#timeline:focus { outline: 1px solid var(--vscode-focusBorder); outline-offset: -1px; }
text { fill: var(--vscode-foreground); font-size: 11px; white-space: pre; pointer-events: none; }
.time { fill: var(--vscode-descriptionForeground); }
.process { font-weight: bold; }
.tick { stroke: var(--vscode-editorRuler-foreground, var(--vscode-descriptionForeground)); stroke-opacity: 0.4; }
.gap { fill: var(--vscode-descriptionForeground); fill-opacity: 0.15; }
.bar { cursor: pointer; color: var(--vscode-descriptionForeground); }
.bar rect { fill: currentColor; fill-opacity: 0.4; stroke: currentColor; stroke-opacity: 0.8; }
.bar path { fill: currentColor; stroke: var(--vscode-editor-background); }
.bar.compile rect { fill-opacity: 0.25; }
.bar.later rect { fill-opacity: 0.12; stroke-dasharray: 4 3; }
.bar.selected rect, .bar.selected path { stroke: var(--vscode-focusBorder); stroke-width: 3; stroke-opacity: 1; stroke-dasharray: none; }
.Dynamo { color: var(--vscode-charts-blue); }
.guards { color: var(--vscode-charts-orange); }
.AOTAutograd { color: var(--vscode-charts-green); }
.Inductor { color: var(--vscode-charts-purple); }
.kernels { color: var(--vscode-charts-yellow); }
.backend { color: var(--vscode-terminal-ansiCyan, var(--vscode-charts-foreground)); }
.graph-break, .limit { color: var(--vscode-problemsWarningIcon-foreground); }
.recompile, .restart { color: var(--vscode-problemsInfoIcon-foreground); }
.failed { color: var(--vscode-problemsErrorIcon-foreground); }
button, input { font: inherit; color: var(--vscode-input-foreground); background: var(--vscode-input-background); border: 1px solid var(--vscode-input-border, var(--vscode-descriptionForeground)); padding: 2px 8px; }
button { color: var(--vscode-button-foreground); background: var(--vscode-button-background); border: none; cursor: pointer; }
button.chip { color: var(--vscode-foreground); background: none; padding: 0 4px; }
button.chip::before { content: '■ '; }
button.chip.mark::before { content: '◆ '; }
button.chip.mark.graph-break::before { content: '▲ '; }
button.chip.mark.recompile::before { content: '● '; }
button.chip.mark.limit::before { content: '■ '; }
button.chip.mark.failed::before { content: '✖ '; }
.chip.Dynamo::before, .chip.restart::before, .chip.recompile::before { color: var(--vscode-charts-blue); }
.chip.guards::before { color: var(--vscode-charts-orange); }
.chip.AOTAutograd::before { color: var(--vscode-charts-green); }
.chip.Inductor::before { color: var(--vscode-charts-purple); }
.chip.kernels::before { color: var(--vscode-charts-yellow); }
.chip.backend::before { color: var(--vscode-terminal-ansiCyan, var(--vscode-charts-foreground)); }
.chip.graph-break::before, .chip.limit::before { color: var(--vscode-problemsWarningIcon-foreground); }
.chip.failed::before { color: var(--vscode-problemsErrorIcon-foreground); }
#search { flex: 1; min-width: 8em; }
</style>
</head>
<body>
<div id="tools" role="toolbar" aria-label="Timeline">
<input id="search" type="search" placeholder="Search compiles, phases, causes (/)" aria-label="Search">
<button id="fit">Fit</button>
<button id="reveal">Show in Runs</button>
<button id="refresh">Refresh</button>
<button id="save">Save as Chrome Trace</button>
</div>
<div id="legend" role="toolbar" aria-label="Time by part of the compiler, and what happened"></div>
<div id="area"><svg id="timeline" tabindex="0" role="tree" aria-label="Timeline" aria-describedby="details"></svg></div>
<div id="details" role="status" aria-live="polite"></div>
<script src="${script}"></script>
</body>
</html>
`;
}
