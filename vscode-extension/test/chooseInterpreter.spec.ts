import * as path from 'node:path';
import { expect, test } from 'vitest';
import { candidates, chooseInterpreter, describe } from '../src/environment/chooseInterpreter';
import { PYTHON_EXTENSION } from '../src/environment/interpreter';
import { folder, program, write } from './support';
import { quickPick, state, Uri, workspace } from './vscode';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('candidates: existing ones, the workspace first, none twice', () => {
  const own = write('.venv/bin/python', '');
  const one = write('.venvs/torch-2.13/bin/python', '');
  const other = write('elsewhere/python3', '');
  const directory = path.dirname(other);
  const env = { PATH: `${directory}:/nowhere:${directory}`, VIRTUAL_ENV: path.join(folder.path, '.venv') };
  expect(candidates([folder.path], env)).toEqual([own, one, other]);
});

test('an interpreter is offered with what it has', async () => {
  expect(await describe('python3')).toMatch(/^Python 3\.\d+\.\d+, (no )?torch.*, (no )?dynascope/);
  expect(await describe(program('process.exit(3)'))).toBe('not a working Python');
  expect(await describe('/nowhere/python')).toBe('no such file');
});

test('the one that is chosen is written to the setting', async () => {
  workspace.workspaceFolders = [{ uri: Uri.file(folder.path) }];
  const own = write('.venv/bin/python', '');
  const chosen = chooseInterpreter();
  expect(quickPick.items[0]?.label).toBe(own);
  quickPick.accept(own);
  await chosen;
  expect(state.settings.get('dynascope.python')).toBe(own);
});

test('a path that is pasted is taken', async () => {
  const chosen = chooseInterpreter();
  quickPick.type('/pasted/python');
  expect(quickPick.items[0]).toMatchObject({ label: '/pasted/python', alwaysShow: true });
  quickPick.accept('/pasted/python');
  await chosen;
  expect(state.settings.get('dynascope.python')).toBe('/pasted/python');
});

test('a picker that is closed changes nothing', async () => {
  const chosen = chooseInterpreter();
  quickPick.hide();
  await chosen;
  expect(state.settings.get('dynascope.python')).toBeUndefined();
});

test('the Python extension chooses when it is there', async () => {
  state.extensions.set(PYTHON_EXTENSION, { activate: () => Promise.resolve({}) });
  await chooseInterpreter();
  await settled();
  expect(state.executed).toEqual(['python.setInterpreter']);
});
