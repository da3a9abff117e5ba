import { expect, test } from 'vitest';
import type { DebugAdapterTracker, DebugSession } from 'vscode';
import { AWAITED, missedStops } from '../src/debugging/missedStops';
import './support';
import { state } from './vscode';

function begin(id: string, parentSession?: DebugSession, awaited: string | undefined = 'Model.forward'): [DebugSession, DebugAdapterTracker | undefined] {
  const session = { id, parentSession, configuration: awaited ? { [AWAITED]: awaited } : {} } as unknown as DebugSession;
  return [session, missedStops.createDebugAdapterTracker(session) as DebugAdapterTracker | undefined];
}

const event = (event: string, body: object): object => ({ type: 'event', event, body });
const ENDED = event('exited', { exitCode: 0 });

test('a session that ends without the stop it was started for says why', () => {
  const [, tracker] = begin('1');
  tracker?.onDidSendMessage?.(event('breakpoint', { breakpoint: { message: 'Never hit. Its file was never imported.' } }));
  tracker?.onDidSendMessage?.(ENDED);
  tracker?.onWillReceiveMessage?.({ type: 'request', command: 'disconnect' });
  tracker?.onWillStopSession?.();
  expect(state.shown).toEqual(['The program ended and the compiler did not stop at Model.forward. Never hit. Its file was never imported.']);
});

test('a program that failed is told of', () => {
  const [, tracker] = begin('2');
  tracker?.onDidSendMessage?.(event('exited', { exitCode: 2 }));
  tracker?.onWillStopSession?.();
  expect(state.shown[0]).toMatch(/^The program ended with exit code 2 and/);
});

test('nothing is said after a stop, its own or one of a child, nor when the user ends it, nor of other sessions', () => {
  const [parent, tracker] = begin('3');
  begin('4', parent, undefined)[1]?.onDidSendMessage?.(event('stopped', { reason: 'breakpoint' }));
  tracker?.onDidSendMessage?.(ENDED);
  tracker?.onWillStopSession?.();
  const [, ended] = begin('5');
  ended?.onWillReceiveMessage?.({ type: 'request', command: 'disconnect' });
  ended?.onWillStopSession?.();
  expect(begin('6', undefined, '')[1]).toBeUndefined();
  expect(state.shown).toEqual([]);
});
