// Show Line in Graph Picture: from a line of the program to its nodes, in a picture that is open or in the newest recorded graph that has some.
import * as vscode from 'vscode';
import type { FactsServer, Row } from './factsServer';
import { compilesOf } from './graphComparison';
import { graphs, openPicture, pictures, selectLines, type Graphs } from './graphPanel';
import type { PanelState } from '../webviews/panels';
import { located } from './recordedDocuments';

/** In so many graphs of the last run a line is looked for: each is read whole. */
const SEARCHED = 50;

/** Selects the nodes of the line that the cursor is in. */
export async function showLineInGraph(server: FactsServer, extension: vscode.Uri): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== 'file') {
    void vscode.window.showInformationMessage(vscode.l10n.t('Put the cursor on a line of the program first.'));
    return;
  }
  const path = editor.document.uri.fsPath;
  const line = editor.selection.active.line + 1;
  const name = `${vscode.workspace.asRelativePath(path)}:${line}`;
  for (const picture of pictures) {
    const lines = picture.found ? await recordedLines(server, picture.key, picture.found, path, line) : [];
    if (lines.length > 0) return selectLines(picture, { path, lines, name });
  }
  for (const state of await graphsOfLastRun(server, path)) {
    const found = await graphs(server, state);
    const lines = found ? await recordedLines(server, state.key, found, path, line) : [];
    if (!found || lines.length === 0) continue;
    openPicture(server, extension, state, found, { path, lines, name });
    return;
  }
  void vscode.window.showInformationMessage(vscode.l10n.t('No graph of the last run has a node from {0}.', name));
}

/** The lines of a file in graphs that are at a line now. */
async function recordedLines(server: FactsServer, key: string, { graphs }: Graphs, path: string, line: number): Promise<number[]> {
  const places = graphs.flatMap(({ nodes, stacks }) => nodes.flatMap(({ stack }) => stacks[stack] ?? []));
  const recorded = [...new Set(places.filter((place) => place.path === path).map((place) => place.line))];
  const now = await Promise.all(recorded.map((each) => located(server, key, { path, line: each })));
  return recorded.filter((_, place) => now[place] === line);
}

/** The graphs of the last run, the newest first, but before all others those of functions in a file. */
async function graphsOfLastRun(server: FactsServer, path: string): Promise<PanelState[]> {
  const [run] = (await server.request<Row[]>('dynascope/rows', { keys: [] })) ?? [];
  const compiles = run ? (await compilesOf(server, run.key)).reverse() : [];
  const first = compiles.filter(({ place }) => place?.path === path);
  return [...new Set([...first, ...compiles])].slice(0, SEARCHED).map(({ key }) => ({ key: run?.key ?? '', document: key.replace('compile:', 'graph:') }));
}
