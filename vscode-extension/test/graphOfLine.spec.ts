import { beforeEach, expect, test } from 'vitest';
import { showLineInGraph } from '../src/runs/graphOfLine';
import { pictures, showPicture } from '../src/runs/graphPanel';
import { extension } from './support';
import { EventEmitter, panels, Position, posted, state, Uri, window } from './vscode';

const KEY = '["/a/.dynascope","one"]';
const MODEL = '/a/model.py';
const ROWS: Record<string, object[]> = {
  '': [{ key: KEY, label: 'train.py' }],
  [KEY]: [{ key: 'breaks:', label: 'Graph Breaks' }, { key: 'compiles:1', label: 'Compiles' }],
  'compiles:1': [
    { key: 'compile:16', label: '[0/0] f', place: { path: MODEL, line: 1 } },
    { key: 'compile:17', label: '[0/1] f', place: { path: MODEL, line: 1 } },
    { key: 'compile:18', label: '[1/0] other', place: { path: '/a/other.py', line: 1 } },
  ],
};
/** A graph with a node from a line of the model, which is two lines further down by now. */
const graph = (line: number): object => {
  const stacks = [[{ path: '/a/called.py', line: 2, function: 'g' }, { path: MODEL, line, function: 'f' }]];
  return { title: `graph with ${line}`, graphs: [{ name: 'forward', nodes: [{ name: 'add', op: 'call_function', text: '', value: '', inputs: [], stack: 0, module: '', source: '' }], stacks, leftOut: 0 }] };
};
const GRAPHS: Record<string, object | null> = { 'graph:16': graph(3), 'graph:17': graph(5), 'graph:18': null };
const asked: string[] = [];
const request = <T>(_: string, params: object): Promise<T | undefined> => {
  const { keys, document, place } = params as { keys?: string[]; document?: string; place?: { path: string; line: number } };
  if (document) asked.push(document);
  return Promise.resolve((keys ? ROWS[keys.at(-1) ?? ''] : place ? place.line + (place.path === MODEL ? 2 : 0) : GRAPHS[document ?? '']) as T | undefined);
};
const server = { request, onDidChangeFacts: new EventEmitter<void>().event as never };

beforeEach(() => {
  asked.length = posted.length = 0;
  pictures.clear();
});

function show(line: number): Promise<void> {
  window.activeTextEditor = { document: { languageId: 'python', uri: Uri.file(MODEL) }, selection: { active: new Position(line - 1, 0) } };
  return showLineInGraph(server, extension());
}

test('the newest graph with a node from the line is opened, and its page selects the nodes', async () => {
  await show(7);
  expect([asked, panels.at(-1)?.title]).toEqual([['graph:17'], 'graph with 5']);
  await panels.at(-1)?.clicked?.({ type: 'ready' });
  expect(posted).toEqual([{ ...graph(5), lines: { path: MODEL, lines: [5], name: 'model.py:7' } }]);
});

test('an open picture that has such nodes is used', async () => {
  await showPicture(server, extension(), { id: 'graph:16', name: 'f' }, KEY);
  const open = panels.length;
  await show(5);
  expect(panels).toHaveLength(open);
  expect(posted).toEqual([{ lines: { path: MODEL, lines: [3], name: 'model.py:5' } }]);
  panels.at(-1)?.dispose(); // closed: it is not used any more
  await show(5);
  expect(panels).toHaveLength(open + 1);
});

test('a line that no graph has is said to be one, and so is no line', async () => {
  await show(4);
  expect(asked).toEqual(['graph:17', 'graph:16', 'graph:18']);
  window.activeTextEditor = undefined;
  await showLineInGraph(server, extension());
  expect(state.shown).toEqual(['No graph of the last run has a node from model.py:4.', 'Put the cursor on a line of the program first.']);
});
