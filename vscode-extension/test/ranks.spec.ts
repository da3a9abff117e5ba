import { beforeEach, expect, test } from 'vitest';
import './support';
import { ranks } from '../src/debugging/ranks';
import { type Branch, folded, type Frame, ranges } from '../src/debugging/rankStacks';
import { debug, type FakeSession, type FakeTree, state, trackers, trees } from './vscode';

const MAIN = { name: '<module>', path: '/job/train.py', line: 40 };
const STEP = { name: 'step [0/0]', path: '/job/model.py', line: 8 };
const SENDS = { name: 'reduce', path: '/job/model.py', line: 20 };

/** The folded stacks as text: ranks, the innermost line that they share, how many frames, and what is below. */
function drawn(stacks: Record<number, Frame[]>): unknown[] {
  const texts = (branches: readonly Branch[]): unknown[] =>
    branches.map(({ ranks, frames, branches }) => [ranges(ranks), frames[0]?.line, frames.length, ...texts(branches)]);
  return texts(folded(new Map(Object.entries(stacks).map(([rank, frames]) => [Number(rank), frames]))));
}

test('equal stacks are one branch', () => {
  expect(drawn({ 0: [MAIN, STEP], 1: [MAIN, STEP], 2: [MAIN, STEP] })).toEqual([['0-2', 8, 2]]);
});

test('ranks part after the frames that they share', () => {
  const other = { ...STEP, line: 9 };
  expect(drawn({ 0: [MAIN, STEP, SENDS], 1: [MAIN, other], 2: [MAIN, STEP, SENDS], 3: [MAIN, STEP, SENDS] })).toEqual([
    ['0-3', 40, 1, ['0, 2, 3', 20, 2], ['1', 9, 1]],
  ]);
});

test('a rank that is at a line from which another has called has that line', () => {
  expect(drawn({ 0: [MAIN, STEP], 1: [MAIN, STEP, SENDS] })).toEqual([['0, 1', 8, 2, ['0', 8, 1], ['1', 20, 1]]]);
});

test('ranks that share nothing are branches side by side, and many are ranges', () => {
  expect(drawn({ 7: [STEP], 0: [MAIN], 1: [STEP], 2: [STEP], 3: [STEP] })).toEqual([['0', 40, 1], ['1-3, 7', 8, 1]]);
});

const asked: unknown[] = [];
let tree: FakeTree;

interface Tracker {
  readonly onDidSendMessage: (message: object) => void;
  readonly onWillStopSession: () => void;
}

function begin(rank: number, frames: readonly Frame[], parent = 'job'): Tracker {
  const stackFrames = frames.map(({ name, path, line }, id) => ({ id, name, source: { path }, line })).reverse();
  const root: FakeSession = { id: parent, type: 'dynascope', name: 'Debug', customRequest: () => Promise.reject(new Error()) };
  const session: FakeSession = {
    ...{ id: `${parent}${rank}`, type: 'dynascope', name: `Rank ${rank} (pid 4711)`, parentSession: root },
    customRequest: (command, body) => {
      asked.push([rank, command, body]);
      return Promise.resolve({ stackFrames });
    },
  };
  const factory = trackers.at(-1) as unknown as { createDebugAdapterTracker: (session: FakeSession) => Tracker };
  return factory.createDebugAdapterTracker(session);
}

function stop(tracker: Tracker, threadId = 1): void {
  tracker.onDidSendMessage({ type: 'event', event: 'stopped', body: { threadId } });
}

async function rows(row?: unknown): Promise<unknown[]> {
  const shown = await tree.getChildren(row);
  const texts = shown.map((each) => tree.getTreeItem(each));
  return texts.map(({ label, description }) => `${label}  ${description}`);
}

beforeEach(() => {
  asked.length = 0;
  ranks();
  tree = trees.get('dynascope.ranks') ?? expect.fail('there is no view');
});

test('the view is there for a job of several ranks, and no other session is one', () => {
  const context = (): unknown => state.executedWith.filter(([name, key]) => name === 'setContext' && key === 'dynascope.severalRanks').at(-1)?.[2];
  begin(0, []);
  expect(context()).toBe(false);
  const second = begin(1, []);
  expect(context()).toBe(true);
  second.onWillStopSession();
  expect(context()).toBe(false);
  const factory = trackers.at(-1) as unknown as { createDebugAdapterTracker: (session: object) => unknown };
  expect(factory.createDebugAdapterTracker({ id: 'x', name: 'Debug Current File' })).toBeUndefined();
});

test('ranks are shown where they part, with the frames that they share below, and those that run last', async () => {
  const other = { ...STEP, line: 9 };
  const trackersOfRanks = [begin(0, [MAIN, STEP]), begin(1, [MAIN, other]), begin(2, [MAIN, STEP]), begin(3, [MAIN, STEP])];
  for (const each of trackersOfRanks.slice(0, 3)) stop(each);
  expect(await rows()).toEqual(['ranks 0-2  train.py:40  <module>', 'rank 3  running']);
  const [all] = await tree.getChildren();
  expect(await rows(all)).toEqual(['ranks 0, 2  model.py:8  step [0/0]', 'rank 1  model.py:9  step [0/0]', 'Called from  train.py:40  <module>']);
  const [two, one, callers] = await tree.getChildren(all);
  expect([await rows(two), await rows(one), await rows(callers)]).toEqual([
    ['model.py:8  step [0/0]'],
    ['model.py:9  step [0/0]'],
    ['train.py:40  <module>'],
  ]);
  expect(tree.getTreeItem(one).command?.arguments[1].selection.start.line).toBe(8);
});

test('a stack is asked for once for each stop', async () => {
  const first = begin(0, [MAIN]);
  begin(1, [MAIN]);
  stop(first, 3);
  await rows();
  await rows();
  expect(asked).toEqual([[0, 'stackTrace', { threadId: 3 }]]);
  first.onDidSendMessage({ type: 'response', command: 'next', success: true });
  expect(await rows()).toEqual(['ranks 0, 1  running']);
  stop(first, 3);
  expect(await rows()).toEqual(['rank 0  train.py:40  <module>', 'rank 1  running']);
  first.onDidSendMessage({ type: 'response', command: 'continue', success: false });
  expect(asked).toHaveLength(2);
});

test('a branch goes on without the other ranks; from the command palette all that are stopped do', async () => {
  const other = { ...STEP, line: 9 };
  for (const each of [begin(0, [MAIN, STEP]), begin(1, [MAIN, other])]) stop(each, 5);
  begin(2, []);
  const [, one] = await tree.getChildren((await tree.getChildren())[0]);
  const resumed = (command: string): unknown[] => state.executedWith.filter(([name]) => name === command).map(([, thread]) => thread);
  state.commands.get('dynascope.stepRanks')?.(one);
  expect(resumed('workbench.action.debug.stepOver')).toEqual([{ sessionId: 'job1', threadId: 'thread:job1:5' }]);
  state.commands.get('dynascope.continueRanks')?.();
  expect(resumed('workbench.action.debug.continue')).toHaveLength(2);
});

test('with none stopped that is said', () => {
  state.commands.get('dynascope.continueRanks')?.();
  expect(state.shown).toEqual(['No rank is stopped.']);
});

test('the job of the active session is shown', async () => {
  stop(begin(0, [MAIN], 'one'));
  stop(begin(0, [STEP], 'two'));
  expect(await rows()).toEqual(['rank 0  train.py:40  <module>']);
  debug.activeDebugSession = { id: 'two', type: 'dynascope', customRequest: () => Promise.resolve({}) };
  expect(await rows()).toEqual(['rank 0  model.py:8  step [0/0]']);
});
