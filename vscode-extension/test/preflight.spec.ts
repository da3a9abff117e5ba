import { expect, test } from 'vitest';
import type { Interpreter } from '../src/environment/interpreter';
import { isProblem, preflight, stateOf } from '../src/environment/preflight';
import { interpreterThatSays, program, write } from './support';

const from = (file: string, origin: Interpreter['origin'] = 'launch.json'): Interpreter => ({ command: [file], origin });

async function problemOf(interpreter: Interpreter): Promise<string> {
  const outcome = await preflight(interpreter, undefined);
  if (!isProblem(outcome)) throw new Error('no problem was found');
  expect(outcome.detail).not.toBe('');
  return outcome.message;
}

test('a good interpreter is ready, whatever else it prints', async () => {
  expect(await preflight(from(interpreterThatSays({})), undefined)).toEqual({ python: '3.12.1', version: '0.1.0', torch: '2.13.0+cpu' });
});

test('an interpreter that does not exist: named, with where the name came from', async () => {
  expect(await problemOf(from('/nowhere/python'))).toBe(
    'There is no Python interpreter /nowhere/python (from launch.json). Correct "python" in launch.json.',
  );
  expect(await problemOf(from('/nowhere/python', 'the setting dynascope.python'))).toContain('(from the setting dynascope.python)');
});

test('a file that may not be executed', async () => {
  expect(await problemOf(from(write('python', 'text')))).toContain('may not be executed');
});

test('a program that is no Python: what it said last', async () => {
  expect(await problemOf(from(program('console.error("usage: ls\\nls: bad option"); process.exit(2)')))).toContain(
    'is not a working Python interpreter: ls: bad option.',
  );
});

test('a Python too old', async () => {
  expect(await problemOf(from(interpreterThatSays({ python: '3.9.2', old: true })))).toMatch(/needs Python 3\.11 or later.*is Python 3\.9\.2/);
});

test('dynascope not installed: what comes with the extension can be', async () => {
  const outcome = await preflight(from(interpreterThatSays({ missing: ['dynascope', 'msgspec'] })), undefined);
  expect(outcome).toMatchObject({ install: ['/env/bin/python', '-m', 'pip', 'install'] });
  expect((outcome as { message: string }).message).toContain('Install the package that comes with this extension');
});

test('no torch: said where a program is to run, or dynascope is missing too; else the adapter does without', async () => {
  const without = from(interpreterThatSays({ torch: '' }));
  expect(await preflight(without, undefined)).toMatchObject({ torch: '' });
  expect(await preflight(without, undefined, true)).toMatchObject({ kind: 'noTorch' });
  const neither = from(interpreterThatSays({ torch: '', missing: ['dynascope'] }));
  expect(await preflight(neither, undefined)).toMatchObject({ kind: 'noDynascope' });
  expect(await preflight(neither, undefined, true)).toMatchObject({ kind: 'noTorch' });
});

test('what the empty view says: torch before the package, and what is too old', async () => {
  const said = async (found: Record<string, unknown>): Promise<string> => stateOf(await preflight(from(interpreterThatSays(found)), undefined));
  expect(await said({})).toBe('ready');
  expect(await said({ torch: '' })).toBe('noTorch');
  expect(await said({ torch: '', missing: ['dynascope'] })).toBe('noTorch');
  expect(await said({ torch: '2.5.1', missing: ['dynascope'] })).toBe('oldTorch');
  expect(await said({ missing: ['dynascope'] })).toBe('noDynascope');
  expect(await said({ error: 'ImportError' })).toBe('broken');
  expect(await said({ old: true })).toBe('oldPython');
});

test('without pip, uv installs', async () => {
  const outcome = await preflight(from(interpreterThatSays({ missing: ['dynascope'], pip: false })), undefined);
  expect(outcome).toMatchObject({ install: ['uv', 'pip', 'install', '--python', '/env/bin/python'] });
});

test('a torch that is too old', async () => {
  for (const [torch, kind] of [['2.10.1', 'oldTorch'], ['1.13.1+cu117', 'oldTorch'], ['2.11.0', undefined], ['3.0.0a0', undefined]] as const) {
    const outcome = await preflight(from(interpreterThatSays({ torch })), undefined, true);
    expect(isProblem(outcome) ? outcome.kind : undefined).toBe(kind);
  }
});

test('a dependency not installed', async () => {
  expect(await problemOf(from(interpreterThatSays({ missing: ['debugpy', 'msgspec'] })))).toContain('pip install debugpy msgspec');
});

test('an installation that cannot be imported: the exception', async () => {
  expect(await problemOf(from(interpreterThatSays({ error: 'ImportError: cannot import name x' })))).toContain(
    'ImportError: cannot import name x',
  );
});

test('the probe runs on a real Python', async () => {
  const interpreter: Interpreter = { command: ['python3', '-I', '-S'], origin: 'PATH' };
  expect(await problemOf(interpreter)).toMatch(/dynascope is not installed|needs Python 3\.11/);
});
