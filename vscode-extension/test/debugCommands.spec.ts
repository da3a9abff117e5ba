import { expect, test } from 'vitest';
import { DEBUG_COMMANDS, type Target } from '../src/debugging/debugCommands';
import './support';
import { debug, FunctionBreakpoint, Location, Position, SourceBreakpoint, state, Uri } from './vscode';

const TARGET: Target = { uri: 'file:///work/model.py', line: 12, function: 'Model.forward' };

async function run(command: string, target = TARGET): Promise<void> {
  await DEBUG_COMMANDS[command]?.(target);
}

test('debugs the file with a breakpoint on the function', async () => {
  await run('dynascope.debugFunction');
  expect(debug.breakpoints).toEqual([new FunctionBreakpoint('Model.forward')]);
  expect(state.started).toMatchObject([{ type: 'dynascope', request: 'launch', program: '/work/model.py' }]);
});

test('debugs the file with the exception filter of a finding on', async () => {
  await run('dynascope.debugFinding', { ...TARGET, filters: ['graphBreak'], condition: 'GB0059, /work/model.py:12' });
  expect(debug.breakpoints).toEqual([]);
  expect(state.started).toMatchObject([
    { program: '/work/model.py', exceptionFilters: [{ filterId: 'graphBreak', condition: 'GB0059, /work/model.py:12' }] },
  ]);
});

test('debugs the program that was recorded, not a file of it', async () => {
  const recorded = { args: ['--steps', '2'], cwd: '/work' };
  await run('dynascope.debugFunction', { ...TARGET, program: '/work/train.py', ...recorded });
  await run('dynascope.debugFinding', { ...TARGET, module: 'project.train', ...recorded });
  expect(state.started).toMatchObject([
    { program: '/work/train.py', ...recorded },
    { module: 'project.train', ...recorded },
  ]);
  expect(state.started[1]?.['program']).toBeUndefined();
});

test('one breakpoint, however often', async () => {
  await run('dynascope.debugFunction');
  await run('dynascope.debugFunction');
  expect(debug.breakpoints).toHaveLength(1);
  expect(state.started).toHaveLength(2);
});

test('a breakpoint that is switched off is switched on, others stay', async () => {
  const other = new SourceBreakpoint(new Location(Uri.parse(TARGET.uri), new Position(3, 0)), false);
  debug.breakpoints = [other, new FunctionBreakpoint('Model.forward', false)];
  await run('dynascope.debugFunction');
  expect(debug.breakpoints.map((each) => each.enabled)).toEqual([false, true]);
  expect(debug.breakpoints[0]).toBe(other);
});

test('what is no file is not debugged, and the user is told', async () => {
  await run('dynascope.debugFunction', { ...TARGET, uri: 'untitled:Untitled-1' });
  expect([debug.breakpoints, state.started]).toEqual([[], []]);
  expect(state.shown).toEqual(['Only a file can be debugged: save this code as a Python file first.']);
});
