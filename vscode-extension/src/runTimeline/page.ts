/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// The page of the timeline: zooms, selects, searches; the extension opens lines, shows compiles and saves.
import * as l10n from '@vscode/l10n';
import { element, host, open, say, searched, selectNext, serve, svg } from '../webviews/pages';
import { draw, height, LANE, top } from './drawing';
import { byPart, lanes, neighbour, search, seconds, told, type Bar, type Lanes, type Timeline } from './lanes';
import { scaleOf, type Scale } from './scale';

const area = element('area');
const legend = element('legend');
const HELP = l10n.t('Arrow keys select; Enter opens the line; c shows the compile in the view of runs; z zooms to what is selected; +, - and 0 zoom; / searches.');

let all: Lanes = { tracks: [], count: 0, bars: [] };
let scale: Scale = scaleOf([]);
let at = { from: 0, to: 1 };
let selected: Bar | undefined;
let waits = false;

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
  say(`${compiles === 1 ? l10n.t('1 compile, {0}.', seconds(whole)) : l10n.t('{0} compiles, {1}.', compiles, seconds(whole))} ${HELP}`);
}

function kindsOfMarks(): string[] {
  return [...new Set(all.bars.filter(({ kind }) => kind === 'mark').map(({ part }) => part))];
}

/** A word of the legend; a click searches for the next of its kind. */
function chip(part: string, text: string, kind = ''): HTMLElement {
  const button = document.createElement('button');
  button.className = `chip ${kind} ${part.replaceAll(' ', '-')}`;
  button.textContent = text;
  button.title = l10n.t('Select the next: {0}', part);
  button.addEventListener('click', () => {
    searched.value = part;
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

function reveal(): void {
  if (selected) host.postMessage({ type: 'reveal', compile: selected.span.compile, run: selected.span.run });
  else say(l10n.t('Select a compile first, with a click or the arrow keys.'));
}

/** Selects the next bar in which the text of the search is found. */
function next(): void {
  selectNext((text) => search(all, text), selected, (bar) => {
    select(bar);
    return told(bar).join('  ');
  });
}

function drag({ from, to }: typeof at, x: number): void {
  const moved = (x * (to - from)) / svg.clientWidth;
  look(from - moved, to - moved);
}

function click({ target }: MouseEvent): void {
  const id = (target as Element).closest('.bar')?.id;
  const bar = id === undefined ? undefined : all.bars[Number(id.slice('bar-'.length))];
  if (!bar) return;
  select(bar);
  open(bar);
}

function wheel({ shiftKey, deltaX, deltaY }: WheelEvent): boolean {
  if (shiftKey) pan(Math.sign(deltaY || deltaX) / 8);
  else if (Math.abs(deltaX) > Math.abs(deltaY)) pan(deltaX / svg.clientWidth);
  else return false;
  return true;
}

function key(name: string): boolean {
  if (name.startsWith('Arrow') || name === 'Home' || name === 'End') select(neighbour(all, selected, name));
  else if (name === 'Enter' && selected) open(selected);
  else if (name === 'z' && selected) zoomTo(selected);
  else if (name === 'c') reveal();
  else if (name === 'PageDown') pan(0.5);
  else if (name === 'PageUp') pan(-0.5);
  else return false;
  return true;
}

svg.addEventListener('dblclick', () => {
  if (selected) zoomTo(selected);
});
element('reveal').addEventListener('click', reveal);
element('refresh').addEventListener('click', () => host.postMessage({ type: 'ready' }));
element('save').addEventListener('click', () => host.postMessage({ type: 'save' }));
window.addEventListener('resize', redraw);
serve({ looked: () => at, drag, zoom, fit, next, click, key, wheel }, ({ timeline }: { readonly timeline: Timeline }) => show(timeline));
