import { expect, test } from 'vitest';
import './support';
import { state, Uri, window } from './vscode';
import { levels, lineTimes, text } from '../src/runs/lineTimes';

test('a line is coloured by its share of the longest', () => {
  const times = [0.1, 0.3, 0.5, 0.9, 1].map((own, index) => ({ line: index + 1, own, calls: 0 }));
  expect(levels(times)).toEqual([0, 1, 2, 4, 4]);
  expect(levels([])).toEqual([]);
});

test('what a line calls counts as its time, and is told where it matters', () => {
  expect(levels([{ line: 1, own: 0.1, calls: 0.9 }, { line: 2, own: 0.2, calls: 0 }])).toEqual([4, 1]);
  expect(text({ line: 1, own: 0.0123, calls: 0 })).toBe('12 ms');
  expect(text({ line: 1, own: 0.1, calls: 1.12 })).toBe('1.2 s, 1.1 s of it in calls');
  expect(text({ line: 1, own: 0.0001, calls: 0.0005 })).toBe('1 ms, 1 ms of it in calls');
});

test('the command switches the colours of visible editors on, and off again', async () => {
  const shown = new Map<unknown, string[]>();
  const document = { languageId: 'python', uri: Uri.parse('file:///model.py'), lineCount: 9, lineAt: (line: number) => ({ range: line }) };
  const setDecorations = (style: unknown, options: { range: number; renderOptions: { after: { contentText: string } } }[]): void =>
    void shown.set(style, options.map((each) => `${each.range}:${each.renderOptions.after.contentText}`));
  window.visibleTextEditors = [{ document, setDecorations }];
  state.commands.set('dynascope.lineTimes', () => [{ line: 3, own: 0.002, calls: 0 }, { line: 5, own: 0.01, calls: 0 }]);
  lineTimes();
  await state.commands.get('dynascope.toggleLineTimes')?.();
  expect([...shown.values()]).toEqual([[], ['2:  2 ms'], [], [], ['4:  10 ms']]);
  await state.commands.get('dynascope.toggleLineTimes')?.();
  expect([...shown.values()]).toEqual([[], [], [], [], []]);
});

test('a file without recorded compiles says how to record one', async () => {
  window.visibleTextEditors = [];
  window.activeTextEditor = { document: { languageId: 'python', uri: Uri.parse('file:///model.py') } };
  lineTimes();
  await state.commands.get('dynascope.toggleLineTimes')?.();
  expect(state.shown).toEqual(['Dynascope has no tracing time of 0.5 ms or more for a line of this file. To record the file, run "Dynascope: Record Current File".']);
});
