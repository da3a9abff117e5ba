import * as fs from 'node:fs';
import * as path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { showPicture } from '../src/runs/graphPanel';
import { extension, folder } from './support';
import { EventEmitter, opened, panels, posted, state, Uri, workspace } from './vscode';

const KEY = '["/a/.dynascope","one"]';
const FOUND = { title: 'f [0/0] graph', graphs: [{ name: 'forward', nodes: [], stacks: [], leftOut: 0 }] };
let answers: Record<string, unknown>;
const asked: [string, unknown][] = [];

beforeEach(() => {
  asked.length = 0;
  posted.length = 0;
  answers = { 'dynascope/graph': FOUND, 'dynascope/locate': 12 };
});

async function show(): Promise<(message: unknown) => Promise<void>> {
  const request = <T>(method: string, params: object): Promise<T | undefined> => {
    asked.push([method, params]);
    return Promise.resolve(answers[method] as T | undefined);
  };
  const server = { request, onDidChangeFacts: new EventEmitter<void>().event as never };
  await showPicture(server, extension(), { id: 'graph:17', name: 'f [0-0] graph.py' }, KEY);
  return panels.at(-1)?.clicked ?? (() => Promise.resolve());
}

test('the page gets the graph when it is ready', async () => {
  const send = await show();
  expect(asked).toEqual([['dynascope/graph', { key: KEY, document: 'graph:17' }]]);
  expect([panels.at(-1)?.title, posted]).toEqual(['f [0/0] graph', []]);
  await send({ type: 'ready' });
  expect(posted).toEqual([FOUND]);
});

test('the page may run the script of the extension and load nothing else', async () => {
  await show();
  const html = panels.at(-1)?.webview.html ?? '';
  const [, nonce = ''] = /content="default-src 'none'; script-src 'nonce-([\w-]{36})'; style-src 'unsafe-inline'"/.exec(html) ?? [];
  expect(panels.at(-1)?.webview.options).toMatchObject({ enableScripts: true, localResourceRoots: [] });
  expect(html.match(/<script.*/g)).toEqual([`<script nonce=\"${nonce}\">'graph';</script>`]);
  expect(html).not.toMatch(/https?:|<link|\son\w+=/);
});

test('a node that is clicked opens its line, where it is now', async () => {
  const send = await show();
  const place = { path: '/home/me/model.py', line: 3, function: 'f' };
  await send({ type: 'open', place });
  expect(asked.at(-1)).toEqual(['dynascope/locate', { key: KEY, place }]);
  expect(opened).toEqual(['/home/me/model.py:12']);
});

test('where the file of a library is not here, the line that calls it is opened', async () => {
  const send = await show();
  const [place, caller] = [{ path: '/nowhere/library.py', line: 3, function: 'forward' }, { path: '/home/me/train.py', line: 5, function: 'step' }];
  await send({ type: 'open', place, callers: [caller] });
  expect(opened).toEqual(['/home/me/train.py:12']);
  await send({ type: 'open', place });
  expect(state.shown).toEqual(['/nowhere/library.py is not on this machine, or was deleted since it was recorded.']);
});

test('the picture is saved as a file', async () => {
  workspace.workspaceFolders = [{ uri: Uri.file(folder.path) }];
  await (await show())({ type: 'save', svg: '<svg/>' });
  expect(fs.readFileSync(path.join(folder.path, 'f [0-0] graph.svg'), 'utf8')).toBe('<svg/>');
  expect(state.shown).toEqual([`The picture is saved as ${path.join(folder.path, 'f [0-0] graph.svg')}.`]);
});

test('that there is no such graph is said', async () => {
  const before = panels.length;
  answers = { 'dynascope/graph': null };
  await show();
  expect(panels).toHaveLength(before);
  expect(state.shown.join()).toContain('its graphs were not recorded');
});
