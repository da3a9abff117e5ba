import * as fs from 'node:fs';
import * as path from 'node:path';
import { expect, test } from 'vitest';
import type { Uri as VsUri } from 'vscode';
import { bundled, install } from '../src/environment/install';
import { folder, write } from './support';
import { executed, tasks, Uri } from './vscode';

const at = (file: string): VsUri => Uri.file(file) as unknown as VsUri;

test('the wheel of the package, or the checkout that the extension runs from', () => {
  const extension = path.join(folder.path, 'vscode-extension');
  expect(bundled(at(extension))).toBe(folder.path);
  fs.mkdirSync(path.join(extension, 'wheel'), { recursive: true });
  const wheel = write('vscode-extension/wheel/dynascope-0.1.0-py3-none-any.whl', '');
  expect(bundled(at(extension))).toBe(wheel);
});

test('pip runs in a terminal, and its end tells whether it succeeded', async () => {
  for (const [exitCode, succeeded] of [[0, true], [1, false]] as const) {
    const outcome = install(['/env/bin/python', '-m', 'pip', 'install'], '/extension/wheel/dynascope.whl');
    await Promise.resolve();
    await Promise.resolve();
    const execution = executed.at(-1);
    const { process, args } = execution?.task.execution ?? {};
    expect([process, args]).toEqual(['/env/bin/python', ['-m', 'pip', 'install', '/extension/wheel/dynascope.whl']]);
    tasks.end({ task: { name: 'another' } as never });
    tasks.end(execution, exitCode);
    expect(await outcome).toBe(succeeded);
  }
});
