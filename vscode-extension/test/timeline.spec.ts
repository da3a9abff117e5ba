import { beforeEach, expect, test } from 'vitest';
import './support';
import { timeline } from '../src/debugging/timeline';
import { debug, type FakeTree, state, trackers, trees } from './vscode';

const BEGUN = { number: 1, seconds: 1.5, kind: 'compile', text: 'Dynamo begins to compile f.', compileId: '0/0', source: { path: '/a/model.py' }, line: 7, threadId: 3, targetId: 11 };
const COMPILED = { number: 2, seconds: 2, kind: 'compiled', text: 'f is compiled.' };
const asked: unknown[] = [];

function active(type = 'dynascope', refusal?: string): void {
  debug.activeDebugSession = {
    id: 'one',
    type,
    customRequest: (command, body) => {
      asked.push([command, body]);
      return refusal ? Promise.reject(new Error(refusal)) : Promise.resolve({ events: [BEGUN, COMPILED] });
    },
  };
}

let tree: FakeTree;

beforeEach(() => {
  asked.length = 0;
  timeline();
  tree = trees.get('dynascope.timeline') ?? expect.fail('there is no view');
});

test('the events of the active session are listed, the newest first', async () => {
  active();
  const rows = (await tree.getChildren()).map((row) => tree.getTreeItem(row));
  expect(rows.map(({ label, description, contextValue }) => [label, description, contextValue])).toEqual([
    ['f is compiled.', '2.000 s', 'event'],
    ['Dynamo begins to compile f.', '[0/0]  model.py:7  1.500 s', 'event reachable'],
  ]);
});

test("another debugger's session has none, nor has one that is starting", async () => {
  expect(await tree.getChildren()).toEqual([]);
  active('debugpy');
  expect(await tree.getChildren()).toEqual([]);
  expect(asked).toEqual([]);
  active('dynascope', 'No program is being debugged.');
  expect(await tree.getChildren()).toEqual([]);
});

test('each stop refreshes the view', () => {
  let changes = 0;
  tree.onDidChangeTreeData(() => (changes += 1));
  const tracker = trackers[0]?.createDebugAdapterTracker();
  for (const event of ['output', 'stopped', 'continued']) tracker?.onDidSendMessage?.({ type: 'event', event });
  state.commands.get('dynascope.refreshTimeline')?.();
  expect(changes).toBe(3);
});

test('a click opens the line, and Go There travels', async () => {
  active();
  const click = tree.getTreeItem(BEGUN).command;
  expect([click?.command, click?.arguments[0].fsPath, click?.arguments[1].selection.start.line]).toEqual(['vscode.open', '/a/model.py', 6]);
  expect(tree.getTreeItem(COMPILED).command).toBeUndefined();
  await state.commands.get('dynascope.goToEvent')?.(BEGUN);
  expect(asked).toEqual([['goto', { threadId: 3, targetId: 11 }]]);
});

test('why it is not possible to go there is shown', async () => {
  active('dynascope', 'Give the command again.');
  await state.commands.get('dynascope.goToEvent')?.(BEGUN);
  expect(state.shown).toEqual(['Give the command again.']);
});

test('Go There on a row of a history asks for its target, and travels', async () => {
  debug.activeStackItem = { threadId: 3 } as typeof debug.activeStackItem;
  debug.activeDebugSession = {
    id: 'one',
    type: 'dynascope',
    customRequest: (command, body) => {
      asked.push([command, body]);
      return Promise.resolve({ variables: [{ name: 'a.py:2', targetId: 12 }, { name: 'a.py:3', targetId: 13 }] });
    },
  };
  await state.commands.get('dynascope.goToLineOfHistory')?.({ container: { variablesReference: 5 }, variable: { name: 'a.py:3' } });
  expect(asked).toEqual([
    ['variables', { variablesReference: 5 }],
    ['goto', { threadId: 3, targetId: 13 }],
  ]);
});
