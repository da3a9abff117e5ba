import * as os from 'node:os';
import * as path from 'node:path';
import { expect, test } from 'vitest';
import { findInterpreter, fromConfiguration, PYTHON_EXTENSION } from '../src/environment/interpreter';
import './support';
import { state, Uri, workspace } from './vscode';

function pythonExtension(file: string | undefined): void {
  const environments = {
    getActiveEnvironmentPath: () => ({ id: 'chosen', path: 'chosen' }),
    resolveEnvironment: () => Promise.resolve(file ? { executable: { uri: Uri.file(file) } } : undefined),
  };
  state.extensions.set(PYTHON_EXTENSION, { activate: () => Promise.resolve({ environments }) });
}

test('launch.json: a path, or a path and arguments; anything else is none', () => {
  expect(fromConfiguration('/a/python')?.command).toEqual(['/a/python']);
  expect(fromConfiguration(['/a/python', '-X', 'dev'])?.command).toEqual(['/a/python', '-X', 'dev']);
  expect(fromConfiguration('~/env/bin/python')?.command).toEqual([path.join(os.homedir(), 'env/bin/python')]);
  for (const none of [undefined, '', [], 3, null]) expect(fromConfiguration(none)).toBeUndefined();
});

test('the Python extension comes before the setting', async () => {
  pythonExtension('/chosen/python');
  state.settings.set('dynascope.python', '/setting/python');
  expect(await findInterpreter(undefined)).toEqual({ command: ['/chosen/python'], origin: 'the Python extension' });
});

test('without a choice there, or when it fails to start, the setting', async () => {
  state.settings.set('dynascope.python', '/setting/python');
  pythonExtension(undefined);
  expect((await findInterpreter(undefined)).origin).toBe('the setting dynascope.python');
  state.extensions.set(PYTHON_EXTENSION, { activate: () => Promise.reject(new Error('broken')) });
  expect((await findInterpreter(undefined)).command).toEqual(['/setting/python']);
});

test('the setting may name the workspace folder, be relative to it, or be a bare name', async () => {
  workspace.workspaceFolders = [{ uri: Uri.file('/ws') }];
  for (const [setting, expected] of [
    ['${workspaceFolder}/.venv/bin/python', '/ws/.venv/bin/python'],
    ['.venv/bin/python', '/ws/.venv/bin/python'],
    ['python3.12', 'python3.12'],
  ]) {
    state.settings.set('dynascope.python', setting);
    expect((await findInterpreter(undefined)).command).toEqual([expected]);
  }
});

test('else python3', async () => {
  expect(await findInterpreter(undefined)).toEqual({ command: ['python3'], origin: 'PATH' });
});
