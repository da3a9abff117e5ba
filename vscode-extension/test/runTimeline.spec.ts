import { expect, test } from 'vitest';
import { draw, type Look } from '../src/runTimeline/drawing';
import { byPart, lanes, neighbour, own, search, seconds, told, type Bar, type Lanes, type Span, type Timeline } from '../src/runTimeline/lanes';
import { roundStep, scaleOf, tick, ticks } from '../src/runTimeline/scale';

const NAMES: Timeline['names'] = [['dynamo', 'Dynamo'], ['backend_compile', 'backend'], ['pass.post_grad_passes.stable_sort', 'Inductor']];

/** A compile of 4 s, of which a backend takes 2, and a pass of Inductor 1 of these. */
function compile(number: number, began: number, more: Partial<Span> = {}): Span {
  const phases = [[0, -1, began, 4], [1, 0, began + 1, 2], [2, 1, began + 1.5, 1]] as const;
  const place = { path: '/home/me/model.py', line: 6 };
  return { compile: number, run: 1, name: `forward [0/${number}]`, detail: '', status: 'compiled', began, seconds: 4, phases, marks: [], place, ...more };
}

function timeline(spans: readonly Span[], processes: Timeline['processes'] = { 1: 'rank 0' }): Timeline {
  return { title: 'Timeline', processes, names: NAMES, spans };
}

function named(found: Lanes): Record<string, number> {
  return Object.fromEntries(found.bars.map(({ name, lane }) => [name, lane]));
}

const BREAK = { kind: 'graph break', text: 'Data-dependent branching', at: 1, place: { path: '/home/me/model.py', line: 8 } };

test('a compile is above its phases, each of which is above its parts, and below its marks', () => {
  expect(named(lanes(timeline([compile(0, 0, { marks: [BREAK] })])))).toEqual({
    'Data-dependent branching': 0, 'forward [0/0]': 1, dynamo: 2, backend_compile: 3, 'pass.post_grad_passes.stable_sort': 4,
  });
});

test('compiles after one another share lanes, those at the same time and of other processes do not', () => {
  const spans = [compile(0, 0), compile(1, 2), compile(2, 5), compile(3, 0, { run: 2 })];
  const found = lanes(timeline(spans, { 1: 'rank 0', 2: 'rank 1' }));
  const { 'forward [0/0]': first, 'forward [0/1]': beside, 'forward [0/2]': after, 'forward [0/3]': other } = named(found);
  expect([first, beside, after, other]).toEqual([2, 7, 2, 13]);
  expect(found.tracks.map(({ name, lane }) => [name, lane])).toEqual([['rank 0', 1], ['rank 1', 12]]);
  expect(Math.max(...found.bars.map(({ lane }) => lane))).toBeLessThan(found.count);
});

test('time counts for the innermost phase; a compile without phases is not said to be Dynamo\'s', () => {
  const { bars } = lanes(timeline([compile(0, 0), compile(1, 9, { phases: [] })]));
  expect(byPart(bars)).toEqual([['without phases', 4], ['Dynamo', 2], ['backend', 1], ['Inductor', 1]]);
  expect(own(bars.find(({ name }) => name === 'backend_compile') as Bar)).toBe(1);
});

test('arrow keys lead to what is before and after, into a bar and out of it', () => {
  const found = lanes(timeline([compile(0, 0, { marks: [BREAK] }), compile(1, 5)]));
  const go = (from: string, key: string): string | undefined => neighbour(found, found.bars.find(({ name }) => name === from), key)?.name;
  expect(neighbour(found, undefined, 'ArrowDown')?.name).toBe('forward [0/0]');
  expect([go('forward [0/0]', 'ArrowRight'), go('forward [0/1]', 'ArrowLeft'), go('forward [0/0]', 'ArrowLeft'), go('forward [0/0]', 'End')]).toEqual(['forward [0/1]', 'forward [0/0]', undefined, 'forward [0/1]']);
  expect([go('forward [0/0]', 'ArrowDown'), go('dynamo', 'ArrowRight'), go('dynamo', 'ArrowDown'), go('backend_compile', 'ArrowUp')]).toEqual(['dynamo', 'Data-dependent branching', 'backend_compile', 'dynamo']);
});

test('every bar is found by its name, part or kind, and says what it is', () => {
  const found = lanes(timeline([compile(0, 0, { marks: [BREAK], detail: 'size mismatch' })]));
  expect(search(found, 'STABLE').map(told)).toEqual([['Inductor: pass.post_grad_passes.stable_sort', '1.00 s, from 1.50 s', 'in forward [0/0]', 'model.py:6']]);
  expect(search(found, 'graph break').map(told)).toEqual([['graph break: Data-dependent branching', 'at 1.00 s', 'in forward [0/0]', 'model.py:8']]);
  expect(search(found, 'forward').map(told)).toEqual([['forward [0/0]', '4.00 s (0 s of its own), from 0 s', 'size mismatch', 'model.py:6']]);
  expect([0.00001, 0.0125, 12.345, 250].map(seconds)).toEqual(['10 µs', '12.5 ms', '12.3 s', '250 s']);
});

test('a long time without a compile is folded, a short one is not', () => {
  const scale = scaleOf([compile(0, 10), compile(1, 14.5), compile(2, 3600)]);
  expect(scale.gaps).toHaveLength(1);
  expect([scale.at(10), scale.at(14), scale.at(14.5), scale.at(18.5)]).toEqual([0, 4, 4.5, 8.5]);
  const width = scale.gaps[0]?.width ?? 0;
  expect(width).toBeLessThan(1);
  expect(scale.at(3600)).toBeCloseTo(8.5 + width);
  expect(scale.at((18.5 + 3600) / 2)).toBeCloseTo(8.5 + width / 2);
  expect(scale.width).toBeCloseTo(12.5 + width);
});

test('ticks are round, and as exact as their step', () => {
  expect([0.013, 0.2, 3, 7].map(roundStep)).toEqual([0.02, 0.2, 5, 10]);
  expect(ticks(0.9, 4.2, 1).map((time) => tick(time, 1))).toEqual(['1 s', '2 s', '3 s', '4 s']);
  expect(ticks(1.3578, 1.3581, 0.0001).map((time) => tick(time, 0.0001))).toEqual(['1357.8 ms', '1357.9 ms', '1358 ms', '1358.1 ms'].slice(0, ticks(1.3578, 1.3581, 0.0001).length));
  expect(tick(1.5, 1e-5)).toBe('1500000 µs');
});

test('of bars too narrow to be seen few are drawn, and the one that is selected always', () => {
  const spans = Array.from({ length: 20_000 }, (_, number) => compile(number, 4 * number, { marks: [] }));
  const found = lanes(timeline(spans));
  const scale = scaleOf(spans);
  const look: Look = { from: 0, to: scale.width, width: 500 };
  const drawn = (selected?: Bar): string[] => draw(found, scale, look, selected).match(/id="bar-\d+"/g) ?? [];
  expect(drawn().length).toBeLessThan(4 * 500);
  const hidden = found.bars.find(({ id }) => !drawn().includes(`id="bar-${id}"`)) as Bar;
  expect(drawn(hidden)).toContain(`id="bar-${hidden.id}"`);
  const near = draw(found, scale, { from: 8, to: 12, width: 500 }, undefined);
  expect(near).toContain('>forward [0/2]  4.00 s</text>');
  expect(near).toContain('role="treeitem" aria-level="4" aria-selected="false" aria-label="Inductor: pass.post_grad_passes.stable_sort, 1.00 s, from 9.50 s, in forward [0/2], model.py:6"');
  expect(near).not.toMatch(/width="-/);
});

test('what the program is called cannot add elements to the drawing', () => {
  const spans = [compile(0, 0, { name: '<script>"&', marks: [{ ...BREAK, text: '<b>' }] })];
  const content = draw(lanes(timeline(spans, { 1: '<i>', 2: '<u>' })), scaleOf(spans), { from: 0, to: 4, width: 900 }, undefined);
  expect(content).toContain('&lt;script&gt;&quot;&amp;');
  expect(content).not.toMatch(/<script|<b>|<i>|<u>/);
});
