// Draws the part of a timeline that is looked at, as SVG: of bars too narrow to be seen, one for each pixel.
import * as l10n from '@vscode/l10n';
import { escaped, round } from '../webviews/svg';
import { seconds, told, type Bar, type Lanes } from './lanes';
import { roundStep, tick, ticks, type Scale } from './scale';

/** What is looked at: from where to where on the scale, and how many pixels wide. */
export interface Look {
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

export const LANE = 20;
const AXIS = 22;
const LETTER = 6.6;
const TICK = 90;
/** A bar narrower than this is drawn only where no other is. */
const NARROW = 1.5;
const SHAPES: Readonly<Record<string, string>> = {
  'graph break': 'M0-6L6 5H-6z',
  recompile: 'M0-5A5 5 0 1 1-.01-5z',
  limit: 'M-5-5H5V5H-5z',
  restart: 'M0-6L6 0L0 6L-6 0z',
  failed: 'M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0z',
};

/** How high all of it is. */
export function height({ count }: Lanes): number {
  return AXIS + count * LANE + 4;
}

export function draw(lanes: Lanes, scale: Scale, look: Look, selected: Bar | undefined): string {
  const pixel = look.width / (look.to - look.from);
  const x = (at: number): number => (at - look.from) * pixel;
  const drawn: string[] = [];
  const marks: string[] = [];
  const ends = new Map<number, number>(); // where the last bar of each lane ends
  for (const bar of lanes.bars) {
    const left = x(scale.at(bar.began));
    const right = x(scale.at(bar.began + bar.seconds));
    if (right < 0 || left > look.width) continue;
    const isSelected = bar === selected;
    if (bar.kind === 'mark') {
      marks.push(markOf(bar, left, isSelected));
      continue;
    }
    if (right - left < NARROW && right - (ends.get(bar.lane) ?? -1e9) < NARROW && !isSelected) continue;
    ends.set(bar.lane, Math.max(right, left + NARROW));
    drawn.push(barOf(bar, Math.max(left, -4), Math.min(Math.max(right, left + NARROW), look.width + 4), isSelected));
  }
  return [axis(lanes, scale, look, x), ...drawn, ...marks].join('\n');
}

/** Where the top of a lane is. */
export function top(lane: number): number {
  return AXIS + lane * LANE;
}

function axis(lanes: Lanes, scale: Scale, look: Look, x: (at: number) => number): string {
  const bottom = height(lanes);
  const parts: string[] = [];
  const edges = [scale.gaps[0]?.began ?? Infinity, ...scale.gaps.flatMap(({ ended }, place) => [ended, scale.gaps[place + 1]?.began ?? Infinity])];
  edges.unshift(-Infinity);
  const step = roundStep((look.to - look.from) / Math.max(1, look.width / TICK));
  for (let place = 0; place < edges.length; place += 2) {
    // the times of this stretch that are looked at, from where its begin is drawn
    const begins = Math.max(edges[place] ?? 0, 0);
    const offset = begins - scale.at(begins);
    const from = Math.max(begins, look.from + offset);
    const to = Math.min(edges[place + 1] ?? Infinity, look.to + offset, scale.width + offset);
    if (to <= from) continue;
    for (const time of ticks(from, to, step)) {
      const left = round(x(scale.at(time)));
      parts.push(`<path class="tick" d="M${left} ${AXIS - 5}V${bottom}"/><text class="time" x="${left + 3}" y="14">${tick(time, step)}</text>`);
    }
  }
  for (const { at, width, began, ended } of scale.gaps) {
    const [left, right] = [x(at), x(at + width)];
    if (right < 0 || left > look.width) continue;
    parts.push(`<rect class="gap" x="${round(left)}" y="${AXIS - 5}" width="${round(right - left)}" height="${bottom - AXIS + 5}"/>`);
    const text = escaped(l10n.t('nothing for {0}', seconds(ended - began)));
    const middle = round((left + right) / 2);
    if (right - left > LANE * 0.7) parts.push(`<text class="time" x="${middle}" y="${AXIS + 6}" transform="rotate(90 ${middle} ${AXIS + 6})" dy="4">${text}</text>`);
  }
  for (const { name, lane } of lanes.tracks) if (name) parts.push(`<text class="process" x="4" y="${top(lane) - 6}">${escaped(name)}</text>`);
  return parts.join('\n');
}

function barOf(bar: Bar, left: number, right: number, isSelected: boolean): string {
  const width = right - left;
  const letters = Math.floor((width - 6) / LETTER);
  const label = bar.kind === 'phase' ? bar.name : `${bar.name}  ${seconds(bar.seconds)}`;
  const text = letters > 2 ? `<text x="${round(left + 4)}" y="${top(bar.lane) + 14}">${escaped(label.length <= letters ? label : `${label.slice(0, letters - 1)}…`)}</text>` : '';
  const level = depth(bar);
  return `<g id="bar-${bar.id}" class="bar ${styleOf(bar)}${isSelected ? ' selected' : ''}" role="treeitem" aria-level="${level}" aria-selected="${isSelected}" aria-label="${escaped(told(bar).join(', '))}"><rect x="${round(left)}" y="${top(bar.lane)}" width="${round(width)}" height="${LANE - 2}" rx="2"/>${text}</g>`;
}

function markOf(bar: Bar, left: number, isSelected: boolean): string {
  const shape = SHAPES[bar.part] ?? SHAPES['restart'] ?? '';
  return `<g id="bar-${bar.id}" class="bar mark ${styleOf(bar)}${isSelected ? ' selected' : ''}" role="treeitem" aria-level="${depth(bar)}" aria-selected="${isSelected}" aria-label="${escaped(told(bar).join(', '))}"><path d="${shape}" transform="translate(${round(left)} ${top(bar.lane) + LANE / 2})"/></g>`;
}

function depth(bar: Bar): number {
  return bar.parent ? 1 + depth(bar.parent) : 1;
}

/** A class for each part of the compiler, kind of mark and end of a compile. */
function styleOf({ kind, part }: Bar): string {
  return kind === 'compile' || kind === 'later' ? `${kind} ${part}` : part.replaceAll(' ', '-');
}
