// Show Graph as Picture: the graph of a recorded compile as boxes that fold, in a panel of its own.
import * as vscode from 'vscode';
import type { FactsServer, RecordedDocument } from './factsServer';
import type { Graph, Lines, Place } from '../graph/folding';
import { fillPanel, load, openPanel, type Page, type PanelState } from '../webviews/panels';
import { openPlace, save } from './recordedDocuments';
import { escaped } from '../webviews/svg';

/** The response of the server's request `dynascope/graph`. */
export interface Graphs {
  readonly title: string;
  readonly graphs: readonly Graph[];
}

export const GONE = vscode.l10n.t('There is no such graph: the compile made none, or its graphs were not recorded, or are deleted.');

type Message = { readonly type: 'open'; readonly place: Place; readonly callers?: readonly Place[] } | { readonly type: 'save'; readonly svg: string };

export const PICTURE: Page = {
  type: 'dynascope.graph',
  script: 'graph.js',
  name: vscode.l10n.t('Graph'),
  searched: vscode.l10n.t('Search names, modules, shapes, lines (/)'),
  buttons: { fold: vscode.l10n.t('Fold All'), fit: vscode.l10n.t('Fit'), save: vscode.l10n.t('Save as SVG') },
  before: `<select id="graphs" aria-label="${escaped(vscode.l10n.t('Graph'))}"></select>\n`,
  picture: `<svg id="picture" tabindex="0" role="tree" aria-label="${escaped(vscode.l10n.t('Graph'))}" aria-describedby="details"></svg>`,
  style: `
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
.box.differs rect { stroke: var(--vscode-charts-orange); stroke-width: 2; }
.box.differs.node rect, .box.differs.input rect { fill: var(--vscode-diffEditor-insertedTextBackground); }
.box.selected rect { stroke: var(--vscode-focusBorder); stroke-width: 3; }
.edge.selected path { stroke: var(--vscode-focusBorder); stroke-width: 2; }
.box { cursor: pointer; }
#picture { flex: 1; min-height: 0; }
`,
  gone: GONE,
};

/** A picture that is open; its page gets `lines`, whose nodes it selects, with the graphs. */
interface Picture {
  readonly panel: vscode.WebviewPanel;
  readonly key: string;
  found?: Graphs | undefined;
  lines?: Lines | undefined;
}

/** Those that are open. */
export const pictures = new Set<Picture>();

/** Opens the picture of the graph that a document of a row of the run `key` has. */
export async function showPicture(server: FactsServer, extension: vscode.Uri, document: RecordedDocument | undefined, key: string): Promise<void> {
  const found = document && (await graphs(server, { key, document: document.id }));
  if (found) openPicture(server, extension, { key, document: document.id }, found);
  else void vscode.window.showInformationMessage(GONE);
}

export function openPicture(server: FactsServer, extension: vscode.Uri, state: PanelState, found: Graphs, lines?: Lines): void {
  fillPicture(openPanel(PICTURE, found.title, vscode.ViewColumn.Beside), server, extension, state, found, lines);
}

/** Opens a picture, and waits until its page has loaded. */
export async function loadPicture(server: FactsServer, extension: vscode.Uri, state: PanelState, found: Graphs, column: vscode.ViewColumn): Promise<void> {
  const fill = (panel: vscode.WebviewPanel): void => fillPicture(panel, server, extension, state, found);
  await load(openPanel(PICTURE, found.title, column), PICTURE, state, fill);
}

/** Puts the page into a panel; into one that VS Code has kept over a reload without the graph, which is asked for. */
export function fillPicture(panel: vscode.WebviewPanel, server: FactsServer, extension: vscode.Uri, state: PanelState, found?: Graphs, lines?: Lines): void {
  const { key } = state;
  const picture: Picture = { panel, key, found, lines };
  pictures.add(picture);
  panel.onDidDispose(() => pictures.delete(picture));
  const contents = async (): Promise<object | undefined> => {
    picture.found ??= await graphs(server, state);
    const other = state.other && (await graphs(server, state.other));
    return picture.found && { ...picture.found, lines: picture.lines, other: other && { ...other, title: state.other.title } };
  };
  fillPanel(panel, PICTURE, extension, state, contents, async (message: Message) => {
    if (message.type === 'save') await save(message.svg, `${panel.title}.svg`, { SVG: ['svg'] }, (file) => vscode.l10n.t('The picture is saved as {0}.', file));
    else await openPlace(server, key, message.place, { viewColumn: vscode.ViewColumn.One }, message.callers);
  });
}

/** Selects the nodes of lines in an open picture. */
export async function selectLines(picture: Picture, lines: Lines): Promise<void> {
  picture.lines = lines;
  picture.panel.reveal();
  await picture.panel.webview.postMessage({ lines });
}

export async function graphs(server: FactsServer, { key, document }: PanelState): Promise<Graphs | undefined> {
  return (await server.request<Graphs | null>('dynascope/graph', { key, document })) ?? undefined;
}
