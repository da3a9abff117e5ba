// Executables made for one test, gone after it.
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { resetState, Uri } from './vscode';

export const folder = { path: '' };

beforeEach(() => {
  folder.path = fs.mkdtempSync(path.join(os.tmpdir(), 'dynascope-unit-'));
  resetState();
});

afterEach(() => fs.rmSync(folder.path, { recursive: true, force: true }));

/** Write a file of the test's folder; returns its path. */
export function write(name: string, text: string, mode = 0o644): string {
  const file = path.join(folder.path, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text, { mode });
  return file;
}

/** A program that ignores its arguments and runs this JavaScript; it stands in for `python -m dynascope dap`. */
export function program(javascript: string): string {
  const script = write('program.js', javascript);
  return write('program', `#!/bin/sh\nexec "${process.execPath}" "${script}"\n`, 0o755);
}

/** A stand-in for an interpreter that answers the preflight with `found`. */
export function interpreterThatSays(found: Record<string, unknown>): string {
  const answer = { executable: '/env/bin/python', python: '3.12.1', old: false, missing: [], error: '', version: '0.1.0', torch: '2.13.0+cpu', pip: true, ...found };
  return program(`console.log('a line of sitecustomize'); console.log('dynascope-probe:' + ${JSON.stringify(JSON.stringify(answer))});`);
}

/** Where the extension is installed: a folder with stand-ins for the scripts of its pages. */
export function extension(): never {
  for (const name of ['graph', 'runTimeline']) write(`dist/${name}.js`, `'${name}';`);
  return Uri.file(folder.path) as never;
}
