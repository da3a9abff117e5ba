import { expect, test } from 'vitest';
import type { DebugAdapterTracker, DebugSession } from 'vscode';
import { stopText } from '../src/debugging/stopText';
import './support';
import { statusBarItem } from './vscode';

const CHANGED = 'y: f32[8, 16] → f16[8, 16] (model.py:14)';

function track(): DebugAdapterTracker {
  return stopText.createDebugAdapterTracker({} as DebugSession) as DebugAdapterTracker;
}

const stopped = (body: object): object => ({ type: 'event', event: 'stopped', body });

test('shows what a stop says of itself, until the program goes on', () => {
  const tracker = track();
  tracker.onDidSendMessage?.(stopped({ reason: 'data breakpoint', text: CHANGED }));
  expect(statusBarItem).toMatchObject({ visible: true, text: `$(debug-pause) ${CHANGED}`, tooltip: CHANGED });
  tracker.onWillReceiveMessage?.({ type: 'request', command: 'variables' });
  expect(statusBarItem.visible).toBe(true);
  tracker.onWillReceiveMessage?.({ type: 'request', command: 'continue' });
  expect(statusBarItem.visible).toBe(false);
});

test('shows nothing for an exception, which the editor explains, nor for a stop without a text', () => {
  const tracker = track();
  for (const body of [{ reason: 'exception', text: 'GB0059: …' }, { reason: 'step' }]) {
    tracker.onDidSendMessage?.(stopped({ reason: 'data breakpoint', text: CHANGED }));
    tracker.onDidSendMessage?.(stopped(body));
    expect(statusBarItem.visible).toBe(false);
  }
});

test('shows nothing of a session before', () => {
  const ended = track();
  ended.onDidSendMessage?.(stopped({ reason: 'data breakpoint', text: CHANGED }));
  ended.onWillStopSession?.();
  track();
  expect(statusBarItem.visible).toBe(false);
});

test('keeps a text without an end to one line', () => {
  const tracker = track();
  tracker.onDidSendMessage?.(stopped({ reason: 'function breakpoint', text: `%add =\n ${'x'.repeat(500)}` }));
  expect(statusBarItem.text).toMatch(/^\$\(debug-pause\) %add = x+…$/);
  tracker.onExit?.(0, undefined);
});
