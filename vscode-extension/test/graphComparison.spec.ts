import { expect, test, vi } from 'vitest';
import { differing } from '../src/graph/differing';
import { draw } from '../src/graph/drawing';
import { boxesOf, fold, outerBoxes, unfoldedAround, view, type Graph, type GraphNode } from '../src/graph/folding';
import { compareGraphs } from '../src/runs/graphComparison';
import { extension } from './support';
import { EventEmitter, panels, posted, state, window } from './vscode';

const KEY = '["/a/.dynascope","one"]';
const BEFORE = '["/a/.dynascope","before"]';
const OLDER = '["/a/.dynascope","older"]';
const ROWS: Record<string, object[]> = {
  [KEY]: [{ key: 'breaks:', label: 'Graph Breaks' }, { key: 'compiles:1', label: 'Compiles' }],
  [BEFORE]: [{ key: 'compiles:2', label: 'Compiles' }],
  'compiles:2': [{ key: 'compile:3', label: '[1/0] g' }, { key: 'compile:4', label: '[0/0] f', description: '3 nodes' }],
  [OLDER]: [{ key: 'compiles:3', label: 'Compiles' }],
  'compiles:3': [{ key: 'compile:1', label: '[0/0] f' }],
  'compiles:1': [{ key: 'compile:16', label: '[0/0] f' }, { key: 'compile:17', label: '[0/1] f', description: '2 nodes' }],
};
const OTHERS = [{ key: BEFORE, name: 'train.py, 15:34' }, { key: OLDER, name: 'train.py, 9:00' }];
let others: typeof OTHERS = [];
const server = {
  request: <T>(method: string, { keys, document }: { keys?: string[]; document?: string }): Promise<T | undefined> => {
    const answer = method === 'dynascope/runsOfProgram' ? { name: 'train.py, 16:00', others } : document === 'graph:18' ? null : { title: document, graphs: [] };
    return Promise.resolve((keys ? ROWS[keys.at(-1) ?? ''] : answer) as T | undefined);
  },
  onDidChangeFacts: new EventEmitter<void>().event as never,
};

function graph(...nodes: [name: string, text: string, value: string][]): Graph {
  const made = nodes.map(([name, text, value], at): GraphNode => ({ name, op: 'call_function', text, value, inputs: at ? [at - 1] : [], stack: -1, module: 'layer', source: '' }));
  return { name: 'forward', nodes: made, stacks: [], leftOut: 0 };
}

test('nodes differ by what they do and by their shapes, not by the numbers after names or their order', () => {
  const one = graph(['sin', 'sin = x.sin()', 'f32[8]'], ['cos_1', 'cos_1 = sin.cos()', 'f32[8]'], ['cos_2', 'cos_2 = cos_1.cos()', 'f32[8]']);
  const other = graph(['cos', 'cos = sin_4.cos()', 'f32[8]'], ['sin_4', 'sin_4 = x.sin()', 'f32[s0]']);
  const names = (nodes: Set<GraphNode>): string[] => [...nodes].map(({ name }) => name);
  expect(names(differing(one, other))).toEqual(['sin', 'cos_2']);
  expect(names(differing(other, one))).toEqual(['sin_4']);
  expect(names(differing(one, one))).toEqual([]);
});

test('what differs is unfolded and marked, and what is around it', () => {
  const one = graph(['sin', 'sin = x.sin()', 'f32[8]'], ['cos', 'cos = sin.cos()', 'f32[8]']);
  const root = fold(one);
  const [box] = boxesOf(root, differing(one, graph(['cos', 'cos = sin.cos()', 'f32[8]'])));
  if (!box) expect.fail('nothing differs');
  const { content } = draw(view(one, root, unfoldedAround(root, [box])), new Set([box, ...outerBoxes(box)]));
  expect(content.match(/class="[^"]*differs"[^>]*aria-label="[^"]*"/g)).toEqual([
    'class="box module unfolded differs" role="treeitem" aria-label="module layer, 2 nodes, differs"',
    'class="box node differs" role="treeitem" aria-label="sin = x.sin(), f32[8], in layer, differs"',
  ]);
});

/** Compares, and returns the panels that are opened: the second when the page of the first has loaded. */
async function compared(before: number): Promise<typeof panels> {
  const comparing = compareGraphs(server, extension(), KEY, 'graph:16');
  await vi.waitFor(() => expect(panels).toHaveLength(before + 1));
  await panels.at(-1)?.clicked?.({ type: 'ready' });
  await comparing;
  return panels.slice(before);
}

test('the graph of a compile that the user chooses is opened beside, and each gets the other', async () => {
  state.answer = '[0/1] f';
  const before = panels.length;
  const [left, right] = await compared(before);
  expect([left?.title, right?.title]).toEqual(['graph:16', 'graph:17']);
  expect(posted.at(-1)).toEqual({ title: 'graph:16', graphs: [], other: { title: 'graph:17', graphs: [] } });
  expect(left?.webview.html).toContain('&quot;document&quot;:&quot;graph:17&quot;'); // for a window reload
  await right?.clicked?.({ type: 'ready' });
  expect(posted.at(-1)).toEqual({ title: 'graph:17', graphs: [], other: { title: 'graph:16', graphs: [] } });
});

test('graphs of other runs of the program are offered, that of the same compile of the run before first', async () => {
  others = OTHERS;
  const offered: [string, string][] = [];
  const pick = vi.spyOn(window, 'showQuickPick').mockImplementation((items) => {
    offered.push(...(items as { label: string; description: string }[]).map(({ label, description }): [string, string] => [label, description]));
    return Promise.resolve(items[0]);
  });
  const before = panels.length;
  const [left, right] = await compared(before);
  expect(offered).toEqual([
    ['[0/0] f', 'train.py, 15:34  3 nodes'],
    ['[0/1] f', '2 nodes'],
    ['[1/0] g', 'train.py, 15:34'],
    ['[0/0] f', 'train.py, 9:00'],
  ]);
  expect([left?.title, right?.title]).toEqual(['graph:16: train.py, 16:00', 'graph:4: train.py, 15:34']);
  await right?.clicked?.({ type: 'ready' });
  expect(posted.at(-1)).toMatchObject({ title: 'graph:4: train.py, 15:34', other: { title: 'graph:16: train.py, 16:00' } });
  const kept = / data-state="(.*)"/.exec(left?.webview.html ?? '')?.[1]?.replaceAll('&quot;', '"') ?? '';
  expect(JSON.parse(kept)).toEqual({ key: KEY, document: 'graph:16', other: { key: BEFORE, document: 'graph:4', title: 'graph:4: train.py, 15:34' } });
  pick.mockRestore();
  others = [];
});

test('nothing is opened where nothing is chosen, or a graph is gone', async () => {
  const before = panels.length;
  await compareGraphs(server, extension(), KEY, 'graph:16');
  state.answer = '[0/1] f';
  await compareGraphs(server, extension(), KEY, 'graph:18');
  expect(panels).toHaveLength(before);
  expect(state.shown).toEqual(['There is no such graph: the compile made none, or its graphs were not recorded, or are deleted.']);
});
