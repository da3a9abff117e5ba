// What helps where the environment lacks something.
import { expect, test } from 'vitest';
import type { Uri as VsUri } from 'vscode';
import { environmentWithTorch, remedies } from '../src/environment/remedies';
import { PYTHON_EXTENSION } from '../src/environment/interpreter';
import { folder, write } from './support';
import { state, Uri, workspace } from './vscode';

const extension = Uri.file('/extension') as unknown as VsUri;
const problem = { message: 'torch is not installed', detail: 'all', kind: 'noTorch' } as const;

/** Makes an environment in the workspace whose interpreter says what it has. */
function environment(name: string, says: string): string {
  return write(`${name}/bin/python`, `#!/bin/sh\necho "${says}"\n`, 0o755);
}

test('an environment of the workspace that has torch is the first remedy, best one that has dynascope as well', async () => {
  workspace.workspaceFolders = [{ uri: Uri.file(folder.path) }];
  environment('.bare', 'Python 3.12.1, no torch, no dynascope');
  expect(await environmentWithTorch()).toBeUndefined();
  const own = environment('.venv', 'Python 3.12.1, torch 2.13.0, no dynascope');
  expect(await environmentWithTorch()).toBe(own);
  const both = environment('venv-of-mine', 'Python 3.12.1, torch 2.13.0, dynascope 0.2.0');
  expect(await environmentWithTorch()).toBe(both);
  const [first, second] = await remedies(problem, extension);
  expect([first?.title, second?.title]).toEqual(['Use venv-of-mine', 'Choose Interpreter']);
  expect(await first?.run()).toBe(true);
  expect(state.settings.get('dynascope.python')).toBe(both);
});

test('it becomes the Python extension’s where that is installed', async () => {
  workspace.workspaceFolders = [{ uri: Uri.file(folder.path) }];
  const own = environment('.venv', 'Python 3.12.1, torch 2.13.0, no dynascope');
  const chosen: string[] = [];
  const environments = { updateActiveEnvironmentPath: (file: string) => Promise.resolve(void chosen.push(file)) };
  state.extensions.set(PYTHON_EXTENSION, { activate: () => Promise.resolve({ environments }) });
  await (await remedies(problem, extension))[0]?.run();
  expect(chosen).toEqual([own]);
});

test('the package is installed where torch is, and one may always choose', async () => {
  const titles = async (kind: 'noDynascope' | 'oldPython'): Promise<string[]> => {
    const install = kind === 'noDynascope' ? ['/env/bin/python', '-m', 'pip', 'install'] : undefined;
    return (await remedies({ message: '', detail: '', kind, ...(install && { install }) }, extension)).map(({ title }) => title);
  };
  expect(await titles('noDynascope')).toEqual(['Install', 'Choose Interpreter']);
  expect(await titles('oldPython')).toEqual(['Choose Interpreter']);
});
