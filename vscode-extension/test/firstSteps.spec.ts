// What helps on the first day: the sample project, the name of a compile explained once, the status bar item of the last run.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { expect, test } from 'vitest';
import type { ExtensionContext, Memento } from 'vscode';
import type { Row } from '../src/runs/factsServer';
import { firstStop } from '../src/debugging/firstStop';
import { lastRun } from '../src/runs/lastRun';
import { openSample, showSample } from '../src/environment/sample';
import { folder } from './support';
import { opened, state, statusBarItem, Uri, window, workspace } from './vscode';

const NAME = 'dynascope_sample.py';

function context(): ExtensionContext {
  return { globalStorageUri: Uri.file(path.join(folder.path, 'storage')), extensionUri: Uri.file(path.join(__dirname, '..')) } as unknown as ExtensionContext;
}

test('the sample is copied once and opened: in this window if it is empty, else in one of its own', async () => {
  const sample = path.join(folder.path, 'storage/sample');
  await openSample(context())();
  expect(opened).toEqual([`vscode.openFolder ${sample} {"forceNewWindow":false}`]);
  fs.appendFileSync(path.join(sample, NAME), '# mine\n');
  workspace.workspaceFolders = [{ uri: Uri.file('/home/me') }];
  await openSample(context())();
  expect(opened.at(-1)).toBe(`vscode.openFolder ${sample} {"forceNewWindow":true}`);
  expect(fs.readFileSync(path.join(sample, NAME), 'utf8')).toMatch(/torch\.compile[^]*# mine\n$/);
});

test('the window of the sample shows its program, unless something is open there; other windows do not', async () => {
  const sample = Uri.file(path.join(folder.path, 'storage/sample'));
  await showSample(context());
  workspace.workspaceFolders = [{ uri: Uri.file('/home/me') }];
  await showSample(context());
  expect(opened).toEqual([]);
  workspace.workspaceFolders = [{ uri: sample }];
  await showSample(context());
  expect(opened).toEqual([path.join(sample.fsPath, NAME)]);
  window.activeTextEditor = { document: { languageId: 'python', uri: sample } };
  await showSample(context());
  expect(opened).toHaveLength(1);
});

test('the name of a compile is explained where it is first seen, and once', () => {
  const said: string[][] = [];
  const kept = new Map<string, unknown>();
  const memory = { get: (key: string) => kept.get(key), update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)) };
  const stack = (...names: string[]): void => {
    const session = { customRequest: (command: string, body: { text: string }) => Promise.resolve(said.push([command, body.text])) };
    const tracker = firstStop(memory as unknown as Memento).createDebugAdapterTracker(session as never) as { onDidSendMessage: (message: unknown) => void };
    tracker.onDidSendMessage({ type: 'response', command: 'stackTrace', success: true, body: { stackFrames: names.map((name) => ({ name })) } });
  };
  stack('main', '<module>');
  expect(said).toEqual([]);
  stack('forward [3/1_2]', 'main');
  stack('forward [0/0]', 'main');
  expect(said).toHaveLength(1);
  expect(said[0]?.[0]).toBe('dynascopeSay');
  expect(said[0]?.[1]).toMatch(/^forward \[3\/1_2\] is .* 3 is the number of the function, 1 the number of its compile\. A number after an underscore is that of the attempt/);
});

test('the status bar says what went wrong in the last run, with which interpreter, and nothing where nothing was recorded', async () => {
  state.settings.set('dynascope.python', '/env/bin/python');
  const { show } = lastRun();
  await show(undefined);
  expect(statusBarItem.visible).toBe(false);
  const run: Row = { key: 'k', label: 'train.py --steps 2', icon: 'warning', tooltip: 'torch 2.13.0', brief: '2 graph breaks, 1 recompile' };
  await show(run);
  expect(statusBarItem).toMatchObject({ visible: true, text: '$(warning) train.py: 2 graph breaks, 1 recompile' });
  expect(statusBarItem.tooltip).toBe('torch 2.13.0\nInterpreter: /env/bin/python (the setting dynascope.python)\nA click shows the view of runs.');
  await show(undefined);
  expect(statusBarItem.visible).toBe(false);
});
