/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// The page of the timeline: zooms, selects, searches; the extension opens lines, shows compiles and saves.
import { draw, height, LANE, top } from './drawing';
import { byPart, lanes, neighbour, search, seconds, told, type Bar, type Lanes, type Timeline } from './lanes';
import { scaleOf, type Scale } from './scale';

interface Host {
  postMessage(message: object): void;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): Host;

const host = acquireVsCodeApi();
const svg = element('timeline') as unknown as SVGSVGElement;
const area = element('area');
const details = element('details');
const legend = element('legend');
const found = element('search') as HTMLInputElement;
/** How much a step of the wheel, or of + and -, enlarges. */
const STEP = 1.25;
const HELP = 'Arrow keys select; Enter opens the line; c shows the compile in the view of runs; z zooms to what is selected; +, - and 0 zoom; / searches.';

let all: Lanes = { tracks: [], count: 0, bars: [] };
let scale: Scale = scaleOf([]);
let at = { from: 0, to: 1 };
let selected: Bar | undefined;
let waits = false;

function element(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

function show(timeline: Timeline): void {
  const { name, began } = selected ?? {}; // the same one again, after a refresh
  all = lanes(timeline);
  scale = scaleOf(timeline.spans);
  selected = all.bars.find((bar) => bar.name === name && bar.began === began);
  const spent = byPart(all.bars);
  legend.replaceChildren(...spent.map(([part, time]) => chip(part, `${part} ${seconds(time)}`)), ...kindsOfMarks().map((kind) => chip(kind, kind, 'mark')));
  fit();
  const compiles = all.bars.filter(({ kind }) => kind === 'compile').length;
  const whole = spent.reduce((sum, [, time]) => sum + time, 0);
  say(`${compiles} ${compiles === 1 ? 'compile' : 'compiles'}, ${seconds(whole)}. ${HELP}`);
}

function kindsOfMarks(): string[] {
  return [...new Set(all.bars.filter(({ kind }) => kind === 'mark').map(({ part }) => part))];
}

/** A word of the legend; a click searches for the next of its kind. */
function chip(part: string, text: string, kind = ''): HTMLElement {
  const button = document.createElement('button');
  button.className = `chip ${kind} ${part.replaceAll(' ', '-')}`;
  button.textContent = text;
  button.title = `Select the next: ${part}`;
  button.addEventListener('click', () => {
    found.value = part;
    next();
  });
  return button;
}

function redraw(): void {
  if (waits) return;
  waits = true;
  requestAnimationFrame(() => {
    waits = false;
    svg.style.height = `${height(all)}px`;
    svg.innerHTML = draw(all, scale, { ...at, width: svg.clientWidth || 1 }, selected);
    if (selected) svg.setAttribute('aria-activedescendant', `bar-${selected.id}`);
    else svg.removeAttribute('aria-activedescendant');
  });
}

function say(text: string): void {
  details.textContent = text;
}

/** Looks from one place of the scale to another; not beyond its ends by more than half of what is seen. */
function look(from: number, to: number): void {
  const width = Math.min(Math.max(to - from, scale.width * 1e-7), scale.width * 1.04);
  const start = Math.min(Math.max(from, -width / 2), scale.width - width / 2);
  at = { from: start, to: start + width };
  redraw();
}

function fit(): void {
  look(-scale.width * 0.02, scale.width * 1.02);
}

/** Enlarges by a factor around a pixel, by default the middle. */
function zoom(factor: number, x = svg.clientWidth / 2): void {
  const width = at.to - at.from;
  const middle = at.from + (width * x) / svg.clientWidth;
  look(middle - (middle - at.from) / factor, middle + (at.to - middle) / factor);
}

function pan(part: number): void {
  const width = at.to - at.from;
  look(at.from + width * part, at.to + width * part);
}

function placed(bar: Bar): [number, number] {
  return [scale.at(bar.began), scale.at(bar.began + bar.seconds)];
}

/** Zooms to a bar; to a mark as closely as to its compile. */
function zoomTo(bar: Bar): void {
  const [from, to] = placed(bar.kind === 'mark' && bar.parent ? bar.parent : bar);
  const margin = Math.max((to - from) * 0.05, scale.width * 1e-6);
  look(from - margin, to + margin);
}

/** Selects a bar, says what it is, and brings it into sight. */
function select(bar: Bar | undefined): void {
  if (!bar) return;
  selected = bar;
  say(told(bar).join('  '));
  const [from, to] = placed(bar);
  if (to < at.from || from > at.to) {
    const width = at.to - at.from;
    look((from + to - width) / 2, (from + to + width) / 2);
  }
  const above = top(bar.lane);
  if (above < area.scrollTop) area.scrollTop = above - LANE;
  else if (above + LANE > area.scrollTop + area.clientHeight) area.scrollTop = above + 2 * LANE - area.clientHeight;
  redraw();
}

function open({ place }: Bar): void {
  if (place) host.postMessage({ type: 'open', place });
}

function reveal(): void {
  if (selected) host.postMessage({ type: 'reveal', compile: selected.span.compile, run: selected.span.run });
  else say('Select a compile first, with a click or the arrow keys.');
}

/** Selects the next bar in which the text of the search is found. */
function next(): void {
  const bars = found.value ? search(all, found.value) : [];
  const place = bars.findIndex((bar) => bar === selected) + 1;
  const bar = bars[place % Math.max(bars.length, 1)];
  if (!bar) {
    say(`Nothing is found for ${found.value}.`);
    return;
  }
  select(bar);
  say(`${(place % bars.length) + 1} of ${bars.length}: ${told(bar).join('  ')}`);
}

let drag: { readonly x: number; readonly from: typeof at; moved: boolean } | undefined;
svg.addEventListener('pointerdown', ({ clientX }) => (drag = { x: clientX, from: at, moved: false }));
svg.addEventListener('pointermove', ({ clientX, buttons }) => {
  if (!drag || buttons === 0) return;
  drag.moved ||= Math.abs(clientX - drag.x) > 4;
  const moved = ((clientX - drag.x) * (drag.from.to - drag.from.from)) / svg.clientWidth;
  if (drag.moved) look(drag.from.from - moved, drag.from.to - moved);
});
svg.addEventListener('click', ({ target }) => {
  const id = (target as Element).closest('.bar')?.id;
  const bar = id === undefined ? undefined : all.bars[Number(id.slice('bar-'.length))];
  if (!drag?.moved && bar) {
    select(bar);
    open(bar);
  }
  drag = undefined;
});
svg.addEventListener('dblclick', () => {
  if (selected) zoomTo(selected);
});
svg.addEventListener(
  'wheel',
  (event) => {
    if (event.shiftKey) pan(Math.sign(event.deltaY || event.deltaX) / 8);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / svg.clientWidth);
    else zoom(event.deltaY < 0 ? STEP : 1 / STEP, event.offsetX);
    event.preventDefault();
  },
  { passive: false },
);
svg.addEventListener('keydown', (event) => {
  const { key } = event;
  if (key.startsWith('Arrow') || key === 'Home' || key === 'End') select(neighbour(all, selected, key));
  else if (key === 'Enter' && selected) open(selected);
  else if (key === 'z' && selected) zoomTo(selected);
  else if (key === 'c') reveal();
  else if (key === '+') zoom(STEP);
  else if (key === '-') zoom(1 / STEP);
  else if (key === '0') fit();
  else if (key === 'PageDown') pan(0.5);
  else if (key === 'PageUp') pan(-0.5);
  else if (key === '/') found.focus();
  else return;
  event.preventDefault();
});
found.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') next();
  else if (key === 'Escape') svg.focus();
});
element('fit').addEventListener('click', fit);
element('reveal').addEventListener('click', reveal);
element('refresh').addEventListener('click', () => host.postMessage({ type: 'ready' }));
element('save').addEventListener('click', () => host.postMessage({ type: 'save' }));
window.addEventListener('resize', redraw);
window.addEventListener('message', ({ data }: MessageEvent<{ readonly timeline: Timeline; readonly state: unknown }>) => {
  host.setState(data.state);
  show(data.timeline);
  svg.focus();
});
host.postMessage({ type: 'ready' });
