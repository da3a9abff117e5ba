import type { DebugProtocol } from '@vscode/debugprotocol';
import { expect, test, vi } from 'vitest';
import type { DebugProtocolMessage, LogOutputChannel } from 'vscode';
import { AdapterProcess } from '../src/adapterProcess';
import { program } from './support';
import { fakeLog } from './vscode';

/** Milliseconds: another program is started, on a machine that others use too. */
const PATIENCE = 20_000;

// An adapter that answers each request with its own arguments, in pieces; `crash` writes to stderr and ends.
const ECHO = `
let text = Buffer.alloc(0);
const send = (message) => {
  const body = Buffer.from(JSON.stringify(message));
  const all = Buffer.concat([Buffer.from('Content-Length: ' + body.length + '\\r\\n\\r\\n'), body]);
  const half = Math.floor(all.length / 2);
  process.stdout.write(all.subarray(0, half), () => setImmediate(() => process.stdout.write(all.subarray(half))));
};
process.stdin.on('data', (chunk) => {
  text = Buffer.concat([text, chunk]);
  for (let match; (match = /Content-Length: (\\d+)\\r\\n\\r\\n/.exec(text.toString('latin1'))); ) {
    const end = match.index + match[0].length + Number(match[1]);
    if (text.length < end) return;
    const request = JSON.parse(text.subarray(match.index + match[0].length, end));
    text = text.subarray(end);
    serve(request);
  }
});
const serve = (request) => {
  if (request.command === 'crash') {
    console.error('Traceback (most recent call last):\\nRuntimeError: out of luck');
    process.exit(3);
  }
  if (request.command === 'silence') return;
  if (request.command === 'end') return send({ type: 'event', event: 'terminated', seq: 2 });
  if (request.command === 'disconnect') process.stdin.destroy(); // it has said all it will
  send({ type: 'response', seq: 1, request_seq: request.seq, command: request.command, success: true, body: request.arguments });
};
process.stdin.on('end', () => process.exit(0));
`;

function start(executable: string): { adapter: AdapterProcess; got: DebugProtocol.ProtocolMessage[]; failures: string[]; lines: string[] } {
  const { channel, lines } = fakeLog();
  const failures: string[] = [];
  const got: DebugProtocol.ProtocolMessage[] = [];
  const log = channel as unknown as LogOutputChannel;
  const adapter = new AdapterProcess({ command: [executable], origin: 'PATH' }, undefined, log, (message) => void failures.push(message));
  adapter.onDidSendMessage((message) => void got.push(message as DebugProtocol.ProtocolMessage));
  return { adapter, got, failures, lines };
}

const request = (seq: number, command: string, args: unknown = {}): DebugProtocolMessage => {
  const message: DebugProtocol.Request = { seq, type: 'request', command, arguments: args };
  return message;
};

test('messages pass both ways, unchanged', async () => {
  const { adapter, got } = start(program(ECHO));
  adapter.handleMessage(request(1, 'initialize', { text: 'f32[s0, 16] – ü', nested: { list: [1, null] } }));
  await vi.waitFor(() => expect(got).toHaveLength(1), PATIENCE);
  expect(got[0]).toMatchObject({ request_seq: 1, body: { text: 'f32[s0, 16] – ü', nested: { list: [1, null] } } });
  adapter.dispose();
});

test('an adapter that was told to disconnect may end, and what it has not answered is answered', async () => {
  const { adapter, got, failures, lines } = start(program(ECHO));
  adapter.handleMessage(request(5, 'silence'));
  adapter.handleMessage(request(6, 'disconnect'));
  await vi.waitFor(() => expect(lines).toContain('the adapter ended with exit code 0'), PATIENCE);
  adapter.handleMessage(request(7, 'threads'));
  expect(got).toMatchObject([
    { request_seq: 6, success: true },
    { request_seq: 5, success: false, message: 'The session is over.' },
    { request_seq: 7, success: false },
  ]);
  expect(failures).toEqual([]);
});

test('an adapter that ends before its time: the reason, answers, and the end of the session', async () => {
  const { adapter, got, failures, lines } = start(program(ECHO));
  adapter.handleMessage(request(7, 'crash'));
  await vi.waitFor(() => expect(got).toHaveLength(2), PATIENCE);
  expect(failures).toEqual(['The debug adapter ended with exit code 3 before the session was over: RuntimeError: out of luck.']);
  expect(got[0]).toMatchObject({ type: 'response', request_seq: 7, command: 'crash', success: false });
  expect(got[1]).toMatchObject({ type: 'event', event: 'terminated' });
  expect(lines.join('\n')).toContain('[adapter] Traceback (most recent call last):');
  adapter.handleMessage(request(8, 'threads'));
  expect(got[2]).toMatchObject({ request_seq: 8, success: false });
});

test('an adapter that cannot be started', async () => {
  const { adapter, got, failures } = start('/nowhere/python');
  adapter.handleMessage(request(1, 'initialize'));
  await vi.waitFor(() => expect(failures).toHaveLength(1), PATIENCE);
  expect(failures[0]).toContain('could not be started');
  expect(got[0]).toMatchObject({ request_seq: 1, success: false });
});

test('output that is no protocol ends the session with the reason', async () => {
  const { adapter, failures } = start(program(`console.log('Content-Length: nonsense\\r\\n\\r\\n{}'); setInterval(() => {}, 1000);`));
  await vi.waitFor(() => expect(failures).toHaveLength(1), PATIENCE);
  adapter.dispose();
});

test('the end after `terminated` is no failure; disposing closes its input and it ends', async () => {
  const { adapter, got, failures, lines } = start(program(ECHO));
  adapter.handleMessage({ seq: 1, type: 'event', command: 'end' });
  await vi.waitFor(() => expect(got).toHaveLength(1), PATIENCE);
  adapter.dispose();
  await vi.waitFor(() => expect(lines.join('\n')).toContain('the adapter ended with exit code 0'), PATIENCE);
  expect(failures).toEqual([]);
});
