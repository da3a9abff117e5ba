// Show Timeline: when everything in a recorded run happened, in a panel of its own.
import * as vscode from 'vscode';
import type { FactsServer, Place } from './factsServer';
import { fillPanel, openPanel, type Page, type PanelState } from '../webviews/panels';
import { openPlace, save } from './recordedDocuments';
import type { Timeline } from '../runTimeline/lanes';
import { escaped } from '../webviews/svg';

type Message =
  | { readonly type: 'save' }
  | { readonly type: 'open'; readonly place: Place }
  | { readonly type: 'reveal'; readonly compile: number; readonly run: number };

/** Selects a row of the view of runs, by its keys from the top. */
export type Reveal = (keys: readonly string[]) => Promise<void>;

const NOTHING = vscode.l10n.t('Nothing was compiled in this run, or it was deleted.');

export const TIMELINE: Page = {
  type: 'dynascope.runTimeline',
  script: 'runTimeline.js',
  name: vscode.l10n.t('Timeline'),
  searched: vscode.l10n.t('Search compiles, phases, causes (/)'),
  buttons: { fit: vscode.l10n.t('Fit'), reveal: vscode.l10n.t('Show in Runs'), refresh: vscode.l10n.t('Refresh'), save: vscode.l10n.t('Save as Chrome Trace') },
  picture: `<div id="legend" role="toolbar" aria-label="${escaped(vscode.l10n.t('Time by part of the compiler, and what happened'))}"></div>
<div id="area"><svg id="picture" tabindex="0" role="tree" aria-label="${escaped(vscode.l10n.t('Timeline'))}" aria-describedby="details"></svg></div>`,
  style: `
#legend { padding-top: 0; }
#area { flex: 1; min-height: 0; overflow-x: hidden; overflow-y: auto; }
#picture { display: block; min-height: 100%; }
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
button.chip { color: var(--vscode-foreground); background: none; border: none; padding: 0 4px; }
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
`,
  gone: NOTHING,
};

/** Opens the timeline of the run `key`. */
export async function showTimeline(server: FactsServer, extension: vscode.Uri, reveal: Reveal, key: string): Promise<void> {
  const found = await server.request<Timeline | null>('dynascope/timeline', { key });
  if (!found) {
    void vscode.window.showInformationMessage(NOTHING);
    return;
  }
  fillTimeline(openPanel(TIMELINE, found.title, vscode.ViewColumn.Active), server, extension, reveal, { key });
}

/** Puts the page into a panel, a new one or one that VS Code has kept over a reload. It gets its data when it asks. */
export function fillTimeline(panel: vscode.WebviewPanel, server: FactsServer, extension: vscode.Uri, reveal: Reveal, state: PanelState): void {
  const { key } = state;
  const contents = async (): Promise<object | undefined> => {
    const timeline = await server.request<Timeline | null>('dynascope/timeline', { key });
    return timeline ? { timeline } : undefined;
  };
  fillPanel(panel, TIMELINE, extension, state, contents, async (message: Message) => {
    if (message.type === 'open') await openPlace(server, key, message.place, { viewColumn: vscode.ViewColumn.Beside });
    else if (message.type === 'reveal') await reveal([key, `compiles:${message.run}`, `compile:${message.compile}`]);
    else await saveTrace(server, key, panel.title);
  });
}

async function saveTrace(server: FactsServer, key: string, title: string): Promise<void> {
  const trace = await server.request<string | null>('dynascope/chromeTrace', { key });
  if (trace) await save(trace, `${title}.json`, { [vscode.l10n.t('Chrome trace')]: ['json'] }, (file) => vscode.l10n.t('The trace is saved: Perfetto and chrome://tracing open {0}.', file));
  else void vscode.window.showInformationMessage(vscode.l10n.t('This run was recorded without times.'));
}
