import { beforeEach, expect, test } from 'vitest';
import './support';
import { comparison } from '../src/debugging/comparison';
import { debug, documents, opened, state } from './vscode';

const FOUND = { left: '0/0', right: '0/1', function: 'f', summary: ['0/0 and 0/1 of f', 'First difference, at a.py:5: …'], columns: ['  0/0 │ 0/1', '     4 │ 4', '▶    5 ┃ 5'] };
const asked: unknown[] = [];

function active(type = 'dynascope', refusal?: string): void {
  debug.activeDebugSession = {
    id: 'one',
    type,
    customRequest: (command, body) => {
      asked.push([command, body]);
      return refusal ? Promise.reject(new Error(refusal)) : Promise.resolve(FOUND);
    },
  };
}

beforeEach(() => {
  asked.length = 0;
  opened.length = 0;
  comparison();
});

test('a recompile of the timeline is opened side by side, at the first difference', async () => {
  active();
  await state.commands.get('dynascope.compareCompiles')?.({ compileId: '0/1' });
  expect(asked).toEqual([['dynascopeCompare', { right: '0/1' }]]);
  const [place] = opened;
  expect(place).toBe('/f%200.0%200.1:6');
  const text = documents.get('dynascope-compare')?.provideTextDocumentContent({ toString: () => 'dynascope-compare:/f%200.0%200.1' });
  expect(text?.split('\n')[5]).toBe('▶    5 ┃ 5');
});

test('without an event it is the newest recompile', async () => {
  active();
  await state.commands.get('dynascope.compareCompiles')?.();
  expect(asked).toEqual([['dynascopeCompare', { right: undefined }]]);
});

test('why nothing can be compared is shown', async () => {
  active('dynascope', 'No function has been compiled again yet.');
  await state.commands.get('dynascope.compareCompiles')?.();
  active('debugpy');
  await state.commands.get('dynascope.compareCompiles')?.();
  expect(state.shown).toEqual(['No function has been compiled again yet.', expect.stringContaining('dynascope report --compare')]);
  expect(opened).toEqual([]);
});
