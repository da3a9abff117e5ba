import { beforeEach, expect, test } from 'vitest';
import './support';
import { threadCommands } from '../src/debugging/threadCommands';
import { debug, type FakeSession, state } from './vscode';

const asked: unknown[] = [];

function begin(id: string, type = 'dynascope', refusal?: string, answers: Readonly<Record<string, unknown>> = {}): FakeSession {
  const session: FakeSession = {
    id,
    type,
    customRequest: (command, body) => {
      asked.push([id, command, body]);
      return refusal ? Promise.reject(new Error(refusal)) : Promise.resolve(answers[command] ?? {});
    },
  };
  debug.began.fire(session);
  return session;
}

beforeEach(() => {
  asked.length = 0;
  threadCommands();
});

test('the thread that was clicked goes on alone, in its own session', async () => {
  begin('parent');
  begin('child');
  await state.commands.get('dynascope.continueThread')?.({ sessionId: 'child', threadId: 'thread:child:7' });
  await state.commands.get('dynascope.stepThread')?.({ sessionId: 'parent', threadId: 'thread:parent:1' });
  expect(asked).toEqual([
    ['child', 'continue', { threadId: 7, singleThread: true }],
    ['parent', 'next', { threadId: 1, singleThread: true }],
  ]);
});

test('from the command palette it is the selected one', async () => {
  debug.activeStackItem = { session: begin('one'), threadId: 3 };
  await state.commands.get('dynascope.continueThread')?.();
  expect(asked).toEqual([['one', 'continue', { threadId: 3, singleThread: true }]]);
});

test("another debugger's thread, and none, are refused in words", async () => {
  begin('other', 'debugpy');
  await state.commands.get('dynascope.continueThread')?.({ sessionId: 'other', threadId: 'thread:other:1' });
  await state.commands.get('dynascope.continueThread')?.();
  debug.ended.fire(begin('gone'));
  await state.commands.get('dynascope.stepThread')?.({ sessionId: 'gone', threadId: 'thread:gone:1' });
  expect(asked).toEqual([]);
  expect(state.shown).toHaveLength(3);
});

test('what the adapter says against it is shown', async () => {
  begin('one', 'dynascope', 'This thread is not stopped.');
  await state.commands.get('dynascope.continueThread')?.({ sessionId: 'one', threadId: 'thread:one:1' });
  expect(state.shown).toEqual(['This thread is not stopped.']);
});

test('why it is compiled again is told in the debug console', async () => {
  begin('one', 'dynascope', undefined, { stackTrace: { stackFrames: [{ id: 5 }] }, evaluate: { result: 'forward is compiled again' } });
  await state.commands.get('dynascope.why')?.({ sessionId: 'one', threadId: 'thread:one:2' });
  expect(asked).toEqual([
    ['one', 'stackTrace', { threadId: 2, levels: 1 }],
    ['one', 'evaluate', { expression: 'why?', frameId: 5, context: 'repl' }],
    ['one', 'dynascopeSay', { text: 'forward is compiled again' }],
  ]);
});
