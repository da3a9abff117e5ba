// The timeline of a run as bars in lanes: compiles, below each the phases of torch, above it what went wrong.
import * as l10n from '@vscode/l10n';
import type { Place } from '../runs/factsServer';

/** A compile, or what torch compiled for it later, as the server's request `dynascope/timeline` has it. Times are seconds. */
export interface Span {
  readonly compile: number;
  readonly run: number;
  readonly name: string;
  readonly detail: string;
  readonly status: string;
  readonly began: number;
  readonly seconds: number;
  /** The number in `names`, the phase around it or -1, the beginning, the seconds. */
  readonly phases: readonly (readonly [number, number, number, number])[];
  readonly marks: readonly { readonly kind: string; readonly text: string; readonly at: number; readonly place?: Place | null }[];
  readonly place?: Place | null;
}
export interface Timeline {
  readonly title: string;
  readonly processes: Readonly<Record<string, string>>;
  /** torch's name of a phase, and the part of the compiler that it is of. */
  readonly names: readonly (readonly [string, string])[];
  readonly spans: readonly Span[];
}

/** A bar, or a mark. */
export interface Bar {
  readonly id: number;
  readonly kind: 'compile' | 'later' | 'phase' | 'mark';
  readonly name: string;
  /** The part of the compiler, or the kind of mark, or how the compile ended. */
  readonly part: string;
  readonly began: number;
  readonly seconds: number;
  lane: number;
  readonly span: Span;
  readonly place: Place | undefined;
  readonly parent: Bar | undefined;
  /** As they began. */
  readonly children: Bar[];
}

/** A process: its compiles, and the lanes that they take. */
export interface Track {
  readonly name: string;
  readonly lane: number;
  readonly bars: readonly Bar[];
}
export interface Lanes {
  readonly tracks: readonly Track[];
  readonly count: number;
  /** Every bar, by its number. */
  readonly bars: readonly Bar[];
}

/** Puts the bars into lanes: a compile that begins before another of its process has ended goes below that one. */
export function lanes(timeline: Timeline): Lanes {
  const all: Bar[] = [];
  const tracks: Track[] = [];
  const several = Object.keys(timeline.processes).length > 1;
  let count = 0;
  for (const [run, name] of Object.entries(timeline.processes)) {
    const start = count + (several ? 1 : 0); // the lane of the name
    const rows: { end: number; readonly bars: Bar[] }[] = [];
    const bars: Bar[] = [];
    for (const span of timeline.spans.filter((each) => `${each.run}` === run)) {
      let row = rows.find(({ end }) => end <= span.began);
      if (!row) rows.push((row = { end: 0, bars: [] }));
      row.end = span.began + span.seconds;
      const bar = barOf(span, timeline, all);
      row.bars.push(bar);
      bars.push(bar);
    }
    let next = start;
    for (const row of rows) next += 1 + Math.max(...row.bars.map((bar) => lower(bar, next)));
    count = Math.max(next, start + 1);
    tracks.push({ name: several ? name : '', lane: start, bars });
  }
  return { tracks, count, bars: all };
}

/** Puts a bar and its parts into lanes, its marks into the one above it; returns how many lanes the bars take. */
function lower(bar: Bar, lane: number): number {
  bar.lane = lane + 1;
  let deepest = 0;
  for (const each of bar.children) {
    if (each.kind === 'mark') each.lane = lane;
    else deepest = Math.max(deepest, lower(each, lane + 1));
  }
  return 1 + deepest;
}

function barOf(span: Span, { names }: Timeline, all: Bar[]): Bar {
  const add = (kind: Bar['kind'], name: string, part: string, began: number, seconds: number, place: Place | null | undefined, parent: Bar | undefined): Bar => {
    const bar = { id: all.length, kind, name, part, began, seconds, lane: 0, span, place: place ?? undefined, parent, children: [] };
    all.push(bar);
    parent?.children.push(bar);
    return bar;
  };
  const bar = add(span.status === 'later' ? 'later' : 'compile', span.name, span.status, span.began, span.seconds, span.place, undefined);
  for (const { kind, text, at, place } of span.marks) add('mark', text, kind, at, 0, place ?? span.place, bar);
  const phases: Bar[] = [];
  for (const [number, parent, began, seconds] of span.phases) {
    const [name, part] = names[number] ?? ['', ''];
    phases.push(add('phase', name, part, began, seconds, span.place, phases[parent] ?? bar));
  }
  bar.children.sort((one, other) => one.began - other.began);
  return bar;
}

/** The seconds of a bar without those of its parts. */
export function own({ seconds, children }: Bar): number {
  return Math.max(0, seconds - children.reduce((sum, each) => sum + each.seconds, 0));
}

/** The seconds in each part of the compiler, the longest first; what no phase of a compile has is Dynamo's. */
export function byPart(bars: readonly Bar[]): [string, number][] {
  const sums = new Map<string, number>();
  for (const bar of bars) {
    if (bar.kind === 'mark') continue;
    const part = bar.kind === 'phase' ? bar.part : bar.span.phases.length > 0 ? 'Dynamo' : l10n.t('without phases');
    sums.set(part, (sums.get(part) ?? 0) + own(bar));
  }
  return [...sums].filter(([, seconds]) => seconds > 0).sort(([, one], [, other]) => other - one);
}

/** The bars in which a text is found: names, parts, what went wrong. */
export function search({ bars }: Lanes, text: string): Bar[] {
  const wanted = text.toLowerCase();
  return bars.filter(({ name, part }) => name.toLowerCase().includes(wanted) || part.toLowerCase() === wanted);
}

/** The bar that an arrow key leads to: before and after in the same bar, into its parts, and out of it. */
export function neighbour({ tracks }: Lanes, bar: Bar | undefined, key: string): Bar | undefined {
  const outermost = tracks.flatMap(({ bars }) => bars);
  if (!bar || key === 'Home') return outermost[0];
  if (key === 'End') return outermost.at(-1);
  if (key === 'ArrowUp') return bar.parent;
  if (key === 'ArrowDown') return bar.children[0];
  const beside = bar.parent?.children ?? outermost;
  return beside[beside.indexOf(bar) + (key === 'ArrowRight' ? 1 : -1)];
}

/** Says how long something took. */
export function seconds(time: number): string {
  if (time >= 100) return `${Math.round(time)} s`;
  if (time >= 0.9995) return `${time.toPrecision(3)} s`;
  if (time === 0) return '0 s';
  return time >= 0.0009995 ? `${(time * 1000).toPrecision(3)} ms` : `${Math.round(time * 1e6)} µs`;
}

/** What is said of a bar: what it is, how long it took, where. */
export function told(bar: Bar): string[] {
  const { kind, name, part, span, began, place } = bar;
  const of = bar.children.some((each) => each.kind === 'phase') ? l10n.t(' ({0} of its own)', seconds(own(bar))) : '';
  const time = kind === 'mark' ? l10n.t('at {0}', seconds(began)) : l10n.t('{0}, from {1}', `${seconds(bar.seconds)}${of}`, seconds(began));
  const where = place ? `${place.path.split(/[\\/]/).at(-1)}:${place.line}` : '';
  const inside = kind === 'phase' || kind === 'mark' ? l10n.t('in {0}', span.name) : span.detail;
  return [kind === 'phase' || kind === 'mark' ? `${part}: ${name}` : name, time, inside, where].filter(Boolean);
}
