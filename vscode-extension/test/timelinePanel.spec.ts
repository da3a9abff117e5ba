import * as fs from 'node:fs';
import * as path from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import type { Memento } from 'vscode';
import { explorer } from '../src/runs/explorer';
import { extension, folder } from './support';
import { EventEmitter, opened, panels, posted, revealed, serializers, state, Uri, workspace, window } from './vscode';

const KEY = '["/a/.dynascope","one"]';
const FOUND = { title: 'Timeline of train.py, 15:34', processes: {}, names: [], spans: [] };
const ROWS: Record<string, { key: string; label: string }[]> = {
  '': [{ key: KEY, label: 'train.py' }],
  [KEY]: [{ key: 'compiles:1', label: 'Compiles' }],
  'compiles:1': [{ key: 'compile:17', label: '[0/0] f' }],
};
let answers: Record<string, unknown>;

beforeEach(() => {
  posted.length = 0;
  answers = { 'dynascope/timeline': FOUND, 'dynascope/chromeTrace': '{"traceEvents":[]}', 'dynascope/locate': 12 };
  const request = <T>(method: string, { keys }: { keys?: string[] }): Promise<T | undefined> => Promise.resolve((keys ? ROWS[keys.at(-1) ?? ''] : answers[method]) as T | undefined);
  const memory = { get: (_: string, fallback: unknown) => fallback };
  explorer({ request, onDidChangeFacts: new EventEmitter<void>().event as never }, memory as unknown as Memento, extension());
});

/** Opens the timeline from the palette; what its page sends messages with. */
async function show(): Promise<(message: unknown) => Promise<void>> {
  await state.commands.get('dynascope.showRunTimeline')?.();
  return panels.at(-1)?.clicked ?? (() => Promise.resolve());
}

test('from the palette the only run is opened, and the page gets its timeline when it is ready', async () => {
  const send = await show();
  expect([panels.at(-1)?.title, posted]).toEqual([FOUND.title, []]);
  await send({ type: 'ready' });
  expect(posted).toEqual([{ timeline: FOUND }]);
});

test('after a reload the page is filled again, by the state that it has kept', async () => {
  const panel = window.createWebviewPanel('dynascope.runTimeline', 'kept');
  await serializers.get('dynascope.runTimeline')?.deserializeWebviewPanel(panel, { key: KEY });
  await panel.clicked?.({ type: 'ready' });
  expect(posted).toEqual([{ timeline: FOUND }]);
  const picture = window.createWebviewPanel('dynascope.graph', 'kept');
  answers['dynascope/graph'] = { title: 'f [0/0] graph', graphs: [] };
  await serializers.get('dynascope.graph')?.deserializeWebviewPanel(picture, { key: KEY, document: 'graph:17' });
  await picture.clicked?.({ type: 'ready' });
  expect(posted.at(-1)).toEqual({ title: 'f [0/0] graph', graphs: [] });
  const kept = / data-state="(.*)"/.exec(picture.webview.html)?.[1] ?? '';
  expect(JSON.parse(kept.replaceAll('&quot;', '"'))).toEqual({ key: KEY, document: 'graph:17' }); // for the next reload
});

test('a panel whose page VS Code has not loaded after a reload is opened anew, once', async () => {
  vi.useFakeTimers();
  const empty = window.createWebviewPanel('dynascope.runTimeline', 'kept');
  await serializers.get('dynascope.runTimeline')?.deserializeWebviewPanel(empty, { key: KEY });
  const opened = panels.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(panels.length).toBe(opened + 1);
  expect(panels.at(-1)?.title).toBe('kept');
  await panels.at(-1)?.clicked?.({ type: 'ready' });
  expect(posted).toEqual([{ timeline: FOUND }]);

  const loaded = window.createWebviewPanel('dynascope.runTimeline', 'loaded');
  await serializers.get('dynascope.runTimeline')?.deserializeWebviewPanel(loaded, { key: KEY });
  await loaded.clicked?.({ type: 'ready' });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(panels.at(-1)).toBe(loaded);
  vi.useRealTimers();
});

test('a bar that is clicked opens its line, and its compile is shown in the view of runs', async () => {
  const send = await show();
  await send({ type: 'open', place: { path: '/home/me/model.py', line: 3 } });
  expect(opened).toEqual(['/home/me/model.py:12']);
  await send({ type: 'reveal', compile: 17, run: 1 });
  expect(revealed.at(-1)).toMatchObject({ row: { row: { label: '[0/0] f' }, keys: [KEY, 'compiles:1', 'compile:17'] }, how: { select: true, focus: true } });
});

test('it is saved as a Chrome trace', async () => {
  workspace.workspaceFolders = [{ uri: Uri.file(folder.path) }];
  await (await show())({ type: 'save' });
  expect(JSON.parse(fs.readFileSync(path.join(folder.path, 'Timeline of train.py, 15-34.json'), 'utf8'))).toEqual({ traceEvents: [] });
});

test('a run in which nothing was compiled has none', async () => {
  const before = panels.length;
  answers = { 'dynascope/timeline': null };
  await show();
  expect(panels).toHaveLength(before);
  expect(state.shown.join()).toContain('Nothing was compiled in this run');
});

test('the page may run the script of the extension and load nothing else', async () => {
  await show();
  const html = panels.at(-1)?.webview.html ?? '';
  const [, nonce = ''] = /content="default-src 'none'; script-src 'nonce-([\w-]{36})'; style-src 'unsafe-inline'"/.exec(html) ?? [];
  expect(panels.at(-1)?.webview.options).toMatchObject({ enableScripts: true, localResourceRoots: [] });
  expect(html.match(/<script.*/g)).toEqual([`<script nonce=\"${nonce}\">'runTimeline';</script>`]);
  expect(html).not.toMatch(/https?:|<link|\son\w+=/);
});
