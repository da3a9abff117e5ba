// Where times are drawn: long times in which nothing was compiled are folded, since a program may train for hours between two compiles.
import type { Span } from './lanes';

/** A time without a compile that is folded to the width of so many seconds. */
export interface Gap {
  readonly began: number;
  readonly ended: number;
  /** Where it is drawn. */
  readonly at: number;
  readonly width: number;
}
export interface Scale {
  readonly gaps: readonly Gap[];
  /** The width of all. */
  readonly width: number;
  /** Where a time is drawn. */
  readonly at: (time: number) => number;
}

/** A gap is folded if it is longer than this part of the time in which something was compiled, and drawn so wide. */
const FOLDED = 0.1;
const WIDTH = 0.04;

export function scaleOf(spans: readonly Span[]): Scale {
  const busy: { began: number; ended: number }[] = [];
  for (const { began, seconds } of [...spans].sort((one, other) => one.began - other.began)) {
    const last = busy.at(-1);
    if (last && began <= last.ended) last.ended = Math.max(last.ended, began + seconds);
    else busy.push({ began, ended: began + seconds });
  }
  const whole = busy.reduce((sum, { began, ended }) => sum + ended - began, 0) || 1;
  const gaps: Gap[] = [];
  let left = busy[0]?.began ?? 0; // the time that is not drawn so far
  busy.forEach(({ began }, place) => {
    const before = busy[place - 1];
    if (!before || began - before.ended <= whole * FOLDED) return;
    const gap = { began: before.ended, ended: began, at: before.ended - left, width: whole * WIDTH };
    gaps.push(gap);
    left += gap.ended - gap.began - gap.width;
  });
  const at = (time: number): number => {
    let drawn = time - (busy[0]?.began ?? 0);
    for (const { began, ended, width } of gaps) {
      if (time >= ended) drawn -= ended - began - width;
      else if (time > began) drawn -= (time - began) * (1 - width / (ended - began));
    }
    return drawn;
  };
  return { gaps, width: at(busy.at(-1)?.ended ?? 1) || 1, at };
}

/** The next step of 1, 2, 5, 10, … seconds. */
export function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return Number((power * (rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10)).toPrecision(1));
}

/** The multiples of a step between two times. */
export function ticks(from: number, to: number, step: number): number[] {
  const found: number[] = [];
  for (let number = Math.ceil(from / step); number * step <= to; number++) found.push(number * step);
  return found;
}

/** A time, as exactly as its neighbours need it. */
export function tick(time: number, step: number): string {
  const [unit, factor] = time === 0 || step >= 0.1 ? ['s', 1] : step >= 1e-4 ? ['ms', 1e3] : ['µs', 1e6];
  return `${Number((time * factor).toFixed(2))} ${unit}`;
}
