import { expect, test } from 'vitest';
import { chooseFilters, showFilters } from '../src/debugging/exceptionFilters';
import { state } from './vscode';

const filters = ['uncaught', 'graphBreak', 'codegen'].map((filter) => ({ filter, label: filter }));
const initialized = (): { type: 'response'; seq: number; command: string; body: { exceptionBreakpointFilters: { filter: string; label: string }[] } } => ({
  type: 'response',
  seq: 1,
  command: 'initialize',
  body: { exceptionBreakpointFilters: [...filters] },
});

test('only the filters of the setting are shown', () => {
  state.settings.set('dynascope.exceptionFilters.shown', ['graphBreak', 'uncaught']);
  const answer = initialized();
  showFilters(answer);
  expect(answer.body.exceptionBreakpointFilters.map(({ filter }) => filter)).toEqual(['uncaught', 'graphBreak']);
  const other = { ...initialized(), command: 'launch' };
  showFilters(other);
  expect(other.body.exceptionBreakpointFilters).toHaveLength(3);
  showFilters({ type: 'event', seq: 2 });
});

test('the user chooses among all of them', async () => {
  state.settings.set('dynascope.exceptionFilters.shown', ['uncaught']);
  const choose = chooseFilters({ enum: ['uncaught', 'codegen'], enumItemLabels: ['Uncaught Exceptions', 'Code Generation'], enumDescriptions: ['a', 'b'] });
  await choose();
  expect(state.settings.get('dynascope.exceptionFilters.shown')).toEqual(['uncaught']);
  state.answer = 'Code Generation';
  await choose();
  expect(state.settings.get('dynascope.exceptionFilters.shown')).toEqual(['codegen']);
});
