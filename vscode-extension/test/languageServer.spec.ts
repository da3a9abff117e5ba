import { beforeEach, expect, test } from 'vitest';
import type { DebugAdapterTracker, DebugSession, LogOutputChannel } from 'vscode';
import { hintsAtStops } from '../src/debugging/hintsAtStops';
import { LanguageServer } from '../src/languageServer';
import { clients, CloseAction, next } from './languageClient';
import { interpreterThatSays } from './support';
import { fakeLog, state, status, workspace } from './vscode';

function server(): LanguageServer {
  return new LanguageServer(fakeLog().channel as unknown as LogOutputChannel);
}

beforeEach(() => {
  clients.length = 0;
  next.failure = undefined;
  next.endsAtOnce = false;
  workspace.isTrusted = true;
  state.settings.set('dynascope.python', interpreterThatSays({}));
});

test('runs `dynascope lsp` with the chosen interpreter', async () => {
  await server().restart();
  expect(clients[0]?.run).toMatchObject({ command: state.settings.get('dynascope.python'), args: ['-P', '-m', 'dynascope', 'lsp'] });
  expect(clients[0]?.run.transport).toBeUndefined(); // a transport would add arguments the command does not know
  expect(status.text).toBe('Dynascope: running');
});

test('names its debug commands, and serves files, unsaved documents and cells', async () => {
  await server().restart();
  const commands = { commands: ['dynascope.debugFunction', 'dynascope.debugFinding'] };
  expect(clients[0]?.capabilities).toEqual({ experimental: { commands, ask: true, diagnosticsInHovers: true, factsChanged: true } });
  expect(clients[0]?.options.documentSelector.map(({ scheme, notebook }) => scheme ?? notebook)).toEqual(['file', 'untitled', '*']);
});

test('settings that changed are told to a server that runs', async () => {
  const running = server();
  await running.settingsChanged();
  await running.restart();
  await running.settingsChanged();
  expect(clients.map((client) => client.notified)).toEqual([['workspace/didChangeConfiguration']]);
});

test('no shape hints while a session is stopped, and those of now when it goes on or ends', async () => {
  const running = server();
  await running.restart();
  const [client] = clients;
  const hints = (): unknown => client?.options.middleware.provideInlayHints({}, {}, {}, () => ['hint']);
  const track = (id: string): DebugAdapterTracker => hintsAtStops.createDebugAdapterTracker({ id } as DebugSession) as DebugAdapterTracker;
  const [one, other] = [track('1'), track('2')];
  expect(hints()).toEqual(['hint']);
  for (const session of [one, other]) session.onDidSendMessage?.({ type: 'event', event: 'stopped' });
  one.onWillReceiveMessage?.({ type: 'request', command: 'next' });
  one.onDidSendMessage?.({ type: 'event', event: 'stopped' });
  expect(hints()).toEqual([]);
  one.onWillReceiveMessage?.({ type: 'request', command: 'continue' });
  expect(hints()).toEqual([]);
  other.onWillStopSession?.();
  expect(hints()).toEqual(['hint']);
  expect(client?.hintsRefreshed).toBe(4);
  running.dispose();
});

test('a restart ends the client before', async () => {
  const running = server();
  await Promise.all([running.restart(), running.restart()]);
  expect(clients.map((client) => client.isRunning())).toEqual([false, true]);
});

test('not in an untrusted workspace, not when it is off', async () => {
  workspace.isTrusted = false;
  await server().restart();
  workspace.isTrusted = true;
  state.settings.set('dynascope.languageServer.enabled', false);
  await server().restart();
  expect(clients).toEqual([]);
  expect(status.text).toContain('off');
});

test('an interpreter without dynascope: the status says so, no pop-up', async () => {
  state.settings.set('dynascope.python', interpreterThatSays({ missing: ['dynascope'] }));
  await server().restart();
  expect(clients).toEqual([]);
  expect(status.detail).toContain('dynascope is not installed');
  expect(state.shown).toEqual([]);
});

test('a server that cannot start: one notification, not one each time', async () => {
  next.failure = 'no';
  const broken = server();
  await broken.restart();
  await broken.restart();
  expect(state.shown).toEqual(['The Dynascope language server is not running: no. Debugging works without it.']);
  expect(status.text).toBe('Dynascope: language server not running');
});

test('a server that ends before it answers is not called running', async () => {
  next.endsAtOnce = true;
  await server().restart();
  expect(status.text).toBe('Dynascope: language server not running');
  expect(state.shown).toHaveLength(1);
});

test('a server that ends is started again twice, then left alone', async () => {
  await server().restart();
  const closed = (): number | undefined => clients[0]?.options.errorHandler.closed().action;
  expect([closed(), closed(), closed()]).toEqual([CloseAction.Restart, CloseAction.Restart, CloseAction.DoNotRestart]);
  expect(state.shown).toHaveLength(1);
});

test('requests of ours wait for the server, and new facts are told', async () => {
  const running = server();
  let changes = 0;
  running.onDidChangeFacts(() => (changes += 1));
  expect(await running.request('dynascope/rows', {})).toBeUndefined();
  void running.restart();
  expect(await running.request('dynascope/rows', { keys: [] })).toBe('answer');
  expect(clients[0]?.requested).toEqual([['dynascope/rows', { keys: [] }]]);
  expect(changes).toBe(1);
  clients[0]?.listeners.get('dynascope/factsChanged')?.();
  expect(changes).toBe(2);
});

test('a question of the server is a dialog, which waits for its answer', async () => {
  await server().restart();
  const ask = (): Promise<unknown> | undefined => clients[0]?.answers.get('dynascope/ask')?.({ question: 'Run it?', detail: 'Nothing is edited.', button: 'Run' } as never);
  state.answer = undefined;
  expect(await ask()).toBe(false);
  state.answer = 'Run';
  expect(await ask()).toBe(true);
  expect(state.shown).toEqual(['Run it?', 'Run it?']);
  expect(state.options.at(-1)).toEqual({ modal: true, detail: 'Nothing is edited.' });
});
