import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import './support';
import { ranks } from '../src/debugging/ranks';
import { type Branch, folded, type Frame, ranges } from '../src/debugging/rankStacks';
import { debug, type FakeSession, type FakeTree, revealed, state, trackers, trees } from './vscode';

const MAIN = { name: '<module>', source: { path: '/job/train.py' }, line: 40 };
const STEP = { name: 'step [0/0]', source: { path: '/job/model.py' }, line: 8 };
const OTHER = { ...STEP, line: 9 };
const SENDS = { name: 'reduce', source: { path: '/job/model.py' }, line: 20 };

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
  expect(drawn({ 0: [MAIN, STEP, SENDS], 1: [MAIN, OTHER], 2: [MAIN, STEP, SENDS], 3: [MAIN, STEP, SENDS] })).toEqual([
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
  readonly onWillReceiveMessage: (message: object) => void;
  readonly onDidSendMessage: (message: object) => void;
  readonly onWillStopSession: () => void;
}

function session(id: string, name: string, parentSession?: FakeSession, stack: () => Promise<unknown> = () => Promise.reject(new Error())): FakeSession {
  const customRequest = (command: string, body: unknown): Promise<unknown> => {
    asked.push([id, command, body]);
    return stack();
  };
  return { id, type: 'dynascope', name, customRequest, ...(parentSession && { parentSession }) };
}

function follow(followed: FakeSession): Tracker | undefined {
  const factory = trackers.at(-1) as unknown as { createDebugAdapterTracker: (session: FakeSession) => Tracker | undefined };
  return factory.createDebugAdapterTracker(followed);
}

/** Begins the session of a rank with these frames, the outermost first. */
function begin(rank: number, frames: readonly Frame[] | Promise<never>, parent = 'job'): Tracker {
  const stackFrames = frames instanceof Promise ? frames : Promise.resolve({ stackFrames: [...frames].reverse() });
  return follow(session(`${parent}${rank}`, `Rank ${rank} (pid 4711)`, session(parent, 'Debug'), () => stackFrames)) ?? expect.fail();
}

function stop(tracker: Tracker, threadId = 1): void {
  tracker.onDidSendMessage({ type: 'event', event: 'stopped', body: { threadId } });
}

/** Sends a request, and its response. */
function answered(tracker: Tracker, command: string, threadId: number, body = {}, success = true): void {
  tracker.onWillReceiveMessage({ seq: 7, command, arguments: { threadId } });
  tracker.onDidSendMessage({ type: 'response', request_seq: 7, command, success, body });
}

async function rows(row?: unknown): Promise<string[]> {
  const shown = await tree.getChildren(row);
  return shown.map((each) => tree.getTreeItem(each)).map(({ label, description }) => `${label}  ${description}`);
}

function context(): unknown {
  return state.executedWith.filter(([name, key]) => name === 'setContext' && key === 'dynascope.severalRanks').at(-1)?.[2];
}

/** The threads to which the workbench's own command was given. */
function resumed(command: string): unknown[] {
  return state.executedWith.filter(([name]) => name === command).map(([, text, thread]) => [text, thread]);
}

beforeEach(() => {
  asked.length = 0;
  ranks();
  tree = trees.get('dynascope.ranks') ?? expect.fail('there is no view');
});

afterEach(() => void vi.useRealTimers());

test('the view is there for a job of several ranks, and no other session is one', () => {
  expect(context()).toBe(false);
  begin(0, []);
  expect(context()).toBe(false);
  const second = begin(1, []);
  expect(context()).toBe(true);
  second.onDidSendMessage({ type: 'event', event: 'terminated' });
  expect(context()).toBe(false);
  expect(follow(session('x', 'Debug Current File'))).toBeUndefined();
  expect(follow(session('x', 'Rank 0 (pid 1)'))).toBeUndefined();
});

test('a worker of a rank, which has its name, does not take its place', () => {
  begin(0, []);
  const rank = session('job1', 'Rank 1 (pid 4711)', session('job', 'Debug'));
  follow(rank);
  expect(follow(session('worker', 'Rank 1 (pid 4712)', rank))).toBeUndefined();
});

test('a process that Python has started is a rank, and has its name, once it has joined the others', async () => {
  const spawned = { ...session('s', 'Subprocess 4712', session('job', 'Debug')), configuration: { subProcessId: 4712 } };
  const tracker = follow(spawned) ?? expect.fail();
  stop(tracker);
  expect(await rows()).toEqual([]);
  for (const rank of [1, 1]) tracker.onDidSendMessage({ type: 'event', event: 'dynascopeRank', body: { rank } });
  expect(spawned.name).toBe('Rank 1 (pid 4712)');
  begin(0, []);
  expect(await rows()).toEqual(['ranks 0, 1  running']);
  tracker.onDidSendMessage({ type: 'event', event: 'terminated' });
  expect(await rows()).toEqual(['rank 0  running']);
});

test('a rank whose environment names another one has its own number', async () => {
  const spawned = { ...session('s', 'Rank 0 (pid 4712)', session('job', 'Debug')), configuration: { subProcessId: 4712 } };
  const tracker = follow(spawned) ?? expect.fail();
  tracker.onDidSendMessage({ type: 'event', event: 'dynascopeRank', body: { rank: 3 } });
  expect([spawned.name, await rows()]).toEqual(['Rank 3 (pid 4712)', ['rank 3  running']]);
});

test('a rank that torchrun has started anew stays when the session before it ends', async () => {
  const before = begin(0, [MAIN]);
  stop(begin(0, [STEP]));
  before.onWillStopSession();
  expect(await rows()).toEqual(['rank 0  model.py:8  step [0/0]']);
});

test('ranks are shown where they part, with their common frames below; ranks that run come last', async () => {
  const all = [begin(0, [MAIN, STEP]), begin(1, [MAIN, OTHER]), begin(2, [MAIN, STEP]), begin(3, [MAIN, STEP])];
  for (const each of all.slice(0, 3)) stop(each);
  expect(await rows()).toEqual(['ranks 0-2  train.py:40  <module>', 'rank 3  running']);
  const [root] = await tree.getChildren();
  expect(await rows(root)).toEqual(['ranks 0, 2  model.py:8  step [0/0]', 'rank 1  model.py:9  step [0/0]', 'Called from  train.py:40  <module>']);
  const [two, one, callers] = await tree.getChildren(root);
  expect([await rows(two), await rows(one), await rows(callers)]).toEqual([
    ['model.py:8  step [0/0]'],
    ['model.py:9  step [0/0]'],
    ['train.py:40  <module>'],
  ]);
  expect(tree.getTreeItem(one).command?.arguments[1].selection.start.line).toBe(8);
});

test('a row that parts is another one than before, so that it is unfolded', async () => {
  const [one, other] = [begin(0, [MAIN, STEP]), begin(1, [MAIN, STEP])];
  for (const each of [one, other]) stop(each);
  const together = tree.getTreeItem((await tree.getChildren())[0]);
  stop(begin(1, [MAIN, OTHER]));
  const parted = tree.getTreeItem((await tree.getChildren())[0]);
  expect([together.label, parted.label]).toEqual(['ranks 0, 1', 'ranks 0, 1']);
  expect(together.id).not.toBe(parted.id);
});

test('a stack is asked for once for each stop', async () => {
  const first = begin(0, [MAIN]);
  begin(1, [MAIN]);
  stop(first, 3);
  await rows();
  await rows();
  expect(asked).toEqual([['job0', 'stackTrace', { threadId: 3 }]]);
  answered(first, 'next', 3);
  expect(await rows()).toEqual(['ranks 0, 1  running']);
  stop(first, 3);
  expect(await rows()).toEqual(['rank 0  train.py:40  <module>', 'rank 1  running']);
  answered(first, 'continue', 3, {}, false);
  expect(await rows()).toHaveLength(2);
  expect(asked).toHaveLength(2);
});

test('a step that ends before its response comes leaves the rank stopped', async () => {
  const rank = begin(0, [MAIN]);
  stop(rank, 3);
  rank.onWillReceiveMessage({ seq: 7, command: 'next', arguments: { threadId: 3 } });
  stop(rank, 3);
  rank.onDidSendMessage({ type: 'response', request_seq: 7, command: 'next', success: true });
  expect(await rows()).toEqual(['rank 0  train.py:40  <module>']);
});

test('of two threads that have stopped one stays', async () => {
  const rank = begin(0, [MAIN]);
  stop(rank, 3);
  stop(rank, 4);
  answered(rank, 'continue', 4, { allThreadsContinued: false });
  await rows();
  expect(asked).toEqual([['job0', 'stackTrace', { threadId: 3 }]]);
  rank.onDidSendMessage({ type: 'event', event: 'continued', body: { threadId: 3 } });
  expect(await rows()).toEqual(['rank 0  running']);
});

test('a rank that does not answer is shown without a line, and holds up no other', async () => {
  vi.useFakeTimers();
  stop(begin(0, [MAIN]));
  stop(begin(1, new Promise<never>(() => undefined)));
  const shown = rows();
  await vi.advanceTimersByTimeAsync(1000);
  expect(await shown).toEqual(['rank 0  train.py:40  <module>', 'rank 1  stopped']);
});

test('a branch goes on without the other ranks; from the command palette all that are stopped do', async () => {
  for (const each of [begin(0, [MAIN, STEP]), begin(1, [MAIN, OTHER])]) stop(each, 5);
  begin(2, []);
  const [, one] = await tree.getChildren((await tree.getChildren())[0]);
  state.commands.get('dynascope.stepRanks')?.(one, undefined);
  expect(resumed('workbench.action.debug.stepOver')).toEqual([[undefined, { sessionId: 'job1', threadId: 'thread:job1:5' }]]);
  state.commands.get('dynascope.continueRanks')?.(undefined, undefined); // of a row that is drawn no longer
  expect(resumed('workbench.action.debug.continue')).toEqual([]);
  state.commands.get('dynascope.continueRanks')?.();
  expect(resumed('workbench.action.debug.continue')).toHaveLength(2);
});

test('the view is unfolded once for each job, when several of its ranks have stopped', async () => {
  const first = begin(0, [MAIN]);
  stop(first);
  await rows();
  expect(revealed).toEqual([]);
  stop(begin(1, [MAIN]));
  await vi.waitFor(() => expect(revealed.map(({ row }) => tree.getTreeItem(row).label)).toEqual(['ranks 0, 1']));
  answered(first, 'next', 1);
  stop(first);
  await rows();
  expect(revealed).toHaveLength(1);
});

test('with none stopped that is said', () => {
  state.commands.get('dynascope.continueRanks')?.();
  expect(state.shown).toEqual(['No rank is stopped.']);
});

test('the job of the active session is shown', async () => {
  stop(begin(0, [MAIN], 'one'));
  stop(begin(0, [STEP], 'two'));
  expect(await rows()).toEqual(['rank 0  train.py:40  <module>']);
  debug.activeDebugSession = session('two', 'Debug');
  expect(await rows()).toEqual(['rank 0  model.py:8  step [0/0]']);
});
