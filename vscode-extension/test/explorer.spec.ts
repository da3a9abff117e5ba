import { beforeEach, expect, test, vi } from 'vitest';
import type { Memento } from 'vscode';
import './support';
import { explorer } from '../src/runs/explorer';
import type { Row } from '../src/runs/factsServer';
import { EventEmitter, type FakeTree, opened, revealed, state, trees, treeViews, Uri } from './vscode';

const BREAK: Row = {
  key: 'break:1',
  label: 'Data-dependent branching',
  description: 'gate.py:5 in gate',
  tooltip: 'A graph ends here.',
  icon: 'warning',
  severity: 'warning',
  place: { path: '/a/gate.py', line: 5, source: 3 },
  children: [{ key: 'hint:1', label: 'Use torch.cond.', icon: 'lightbulb' }],
};
const RUN: Row = { key: '["/a/.dynascope","one"]', label: 'train.py', isLazy: true, isOpen: true };

/** The server's rows by the last key, and what it was asked. */
const rows = new Map<string, Row[]>();
const asked: [string, unknown][] = [];
const facts = new EventEmitter<void>();
let located: number | undefined;
let tree: FakeTree;
let show: () => Promise<void>;
let recording: (program: string) => void;
/** What VS Code keeps for the workspace. */
const kept = new Map<string, unknown>();

/** Begins anew, as after a window reload. */
function begin(): void {
  const memory = { get: (key: string, fallback: unknown) => kept.get(key) ?? fallback, update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)) };
  const request = <T>(method: string, params: object): Promise<T | undefined> => {
    asked.push([method, params]);
    const { keys } = params as { keys?: string[] };
    return Promise.resolve((method === 'dynascope/locate' ? located : keys && rows.get(keys.at(-1) ?? '')) as T | undefined);
  };
  ({ show, recording } = explorer({ request, onDidChangeFacts: facts.event as never }, memory as unknown as Memento, Uri.file('/extension') as never));
  tree = trees.get('dynascope.runs') ?? expect.fail('there is no view');
}

beforeEach(() => {
  kept.clear();
  asked.length = 0;
  located = undefined;
  rows.clear();
  rows.set('', [RUN]).set(RUN.key, [BREAK]);
  begin();
});

/** The first row below the first row of the tree. */
async function firstBreak(): Promise<unknown> {
  const [run] = await tree.getChildren();
  return (await tree.getChildren(run))[0];
}

test('rows are asked for when they are opened; those that were sent are not', async () => {
  const [run] = await tree.getChildren();
  expect(tree.getTreeItem(run)).toMatchObject({ label: 'train.py', id: JSON.stringify([RUN.key]), collapsibleState: 2, contextValue: 'run' });
  const found = await firstBreak();
  expect(tree.getTreeItem(found)).toMatchObject({ description: 'gate.py:5 in gate', collapsibleState: 1, contextValue: 'row', iconPath: { id: 'warning', color: { id: 'problemsWarningIcon.foreground' } } });
  const before = asked.length;
  const [hint] = await tree.getChildren(found);
  expect(tree.getTreeItem(hint)).toMatchObject({ label: 'Use torch.cond.', id: JSON.stringify([RUN.key, 'break:1', 'hint:1']), collapsibleState: 0, command: undefined });
  expect(asked.slice(before)).toEqual([]);
});

test('a click opens the line where it is now', async () => {
  const found = await firstBreak();
  const click = tree.getTreeItem(found).command;
  expect(click?.command).toBe('dynascope.openRecordedLine');
  located = 7;
  await state.commands.get('dynascope.openRecordedLine')?.(found);
  expect(asked.at(-1)).toEqual(['dynascope/locate', { key: RUN.key, place: BREAK.place }]);
  expect(opened).toEqual(['/a/gate.py:7']);
});

test('a click on the graph of a compile opens its document', async () => {
  const graph: Row = { key: 'graph:17', label: 'Graph', document: { id: 'graph:17', name: 'f [0-0] graph.py' } };
  rows.set(RUN.key, [graph]);
  const found = await firstBreak();
  expect(tree.getTreeItem(found)).toMatchObject({ collapsibleState: 0, contextValue: 'graph', command: { command: 'dynascope.openRecordedDocument' } });
  await state.commands.get('dynascope.openRecordedDocument')?.(found);
  expect(opened).toEqual([`dynascope-recorded:/f [0-0] graph.py?${JSON.stringify([RUN.key, 'graph:17'])}`]);
});

test.each([
  ['form-graph:17:joint graph', 'graph'],
  ['form-text:17:output code', 'row'],
])('a later form is drawn if it is a graph: %s', async (id, contextValue) => {
  rows.set(RUN.key, [{ key: 'form', label: 'Form', document: { id, name: 'form.py' } }]);
  expect(tree.getTreeItem(await firstBreak())).toMatchObject({ contextValue, command: { command: 'dynascope.openRecordedDocument' } });
});

test('what the user has unfolded and folded is so after a window reload', async () => {
  const found = await firstBreak();
  const [run] = await tree.getChildren();
  treeViews.get('dynascope.runs')?.collapse(run);
  treeViews.get('dynascope.runs')?.expand(found);
  begin();
  const [again] = await tree.getChildren();
  expect([tree.getTreeItem(again).collapsibleState, tree.getTreeItem(await firstBreak()).collapsibleState]).toEqual([1, 2]);
});

test('of very many rows those are remembered that were unfolded last', async () => {
  const found = Array.from({ length: 600 }, (_, number) => ({ key: `row:${number}`, label: 'Row', isLazy: true }));
  rows.set(RUN.key, found);
  const [run] = await tree.getChildren();
  for (const node of await tree.getChildren(run)) treeViews.get('dynascope.runs')?.expand(node);
  begin();
  const [again] = await tree.getChildren();
  const open = (await tree.getChildren(again)).map((node) => tree.getTreeItem(node).collapsibleState === 2);
  expect([open.filter(Boolean).length, open[99], open[100]]).toEqual([500, false, true]);
});

test('that a program is recorded is said until something is known of it', async () => {
  const view = treeViews.get('dynascope.runs');
  await show(); // the newest run is known
  recording('train.py');
  expect(view?.message).toBe('Recording train.py …');
  vi.useFakeTimers();
  facts.fire(); // another program has compiled something
  await vi.runAllTimersAsync();
  expect(view?.message).toBe('Recording train.py …');
  rows.set('', [{ ...RUN, key: '["/a/.dynascope","two"]' }, RUN]);
  facts.fire();
  await vi.runAllTimersAsync();
  expect(view?.message).toBe('');
  vi.useRealTimers();
  recording('train.py');
  await show(); // it has ended, and has recorded nothing
  expect(view?.message).toBe('');
});

test('a command about a run takes the run of the row with the focus, which the title of the view gives', async () => {
  rows.set('', [RUN, { ...RUN, key: '["/a/.dynascope","two"]', label: 'other.py' }]);
  await state.commands.get('dynascope.openRunReport')?.({ row: BREAK, keys: ['["/a/.dynascope","two"]', 'break:1'] });
  expect(asked.at(-1)).toEqual(['workspace/executeCommand', { command: 'dynascope.openReport', arguments: [{ key: '["/a/.dynascope","two"]' }] }]);
});

test('no server: no rows, and a click opens the recorded line', async () => {
  const found = await firstBreak();
  rows.clear();
  expect(await tree.getChildren()).toEqual([]);
  await state.commands.get('dynascope.openRecordedLine')?.(found);
  expect(opened).toEqual(['/a/gate.py:5']);
});

test('compiles are sorted as chosen, from then on', async () => {
  let changes = 0;
  tree.onDidChangeTreeData(() => (changes += 1));
  await state.commands.get('dynascope.sortCompiles')?.();
  expect(changes).toBe(0);
  state.answer = 'The Slowest First';
  await state.commands.get('dynascope.sortCompiles')?.();
  expect(changes).toBe(1);
  await tree.getChildren();
  expect(asked.at(-1)).toEqual(['dynascope/rows', { keys: [], order: 'duration' }]);
});

test('runs are deleted when the user says so', async () => {
  const [run] = await tree.getChildren();
  await state.commands.get('dynascope.forgetRun')?.(run);
  expect(state.shown).toEqual(['Delete what was recorded of train.py?']);
  expect(asked.map(([method]) => method)).toEqual(['dynascope/rows']);
  state.answer = 'Delete';
  await state.commands.get('dynascope.forgetRun')?.(run);
  await state.commands.get('dynascope.clearRuns')?.();
  expect(asked.slice(1)).toEqual([
    ['dynascope/forget', { key: RUN.key }],
    ['dynascope/forget', {}],
  ]);
});

test('the newest run is shown, and the focus stays where it is', async () => {
  await show();
  expect(revealed).toEqual([{ row: { row: RUN, keys: [RUN.key] }, how: { select: false, focus: false, expand: true } }]);
  rows.clear();
  await show();
  expect(revealed).toHaveLength(1);
});

test('the report of a run is opened', async () => {
  const [run] = await tree.getChildren();
  await state.commands.get('dynascope.openRunReport')?.(run);
  expect(asked.at(-1)).toEqual(['workspace/executeCommand', { command: 'dynascope.openReport', arguments: [{ key: RUN.key }] }]);
});

test('new facts refresh the view, at most once a second', () => {
  vi.useFakeTimers();
  let changes = 0;
  tree.onDidChangeTreeData(() => (changes += 1));
  for (let number = 0; number < 5; number++) facts.fire();
  vi.advanceTimersByTime(1);
  expect(changes).toBe(1);
  facts.fire();
  vi.advanceTimersByTime(900);
  expect(changes).toBe(1);
  vi.advanceTimersByTime(100);
  expect(changes).toBe(2);
  state.commands.get('dynascope.refreshRuns')?.();
  expect(changes).toBe(3);
  vi.useRealTimers();
});
