// Folds the stacks of the ranks of a job into a tree, as `where all` does at Dynascope's prompt (and LLNL's STAT, 2009).
import type { DebugProtocol } from '@vscode/debugprotocol';

export type Frame = Pick<DebugProtocol.StackFrame, 'name' | 'source' | 'line'>;

/** Ranks that have frames in common. */
export interface Branch {
  readonly ranks: readonly number[];
  /** The frames that these ranks share, after those of the branch that they part from; the innermost first. */
  readonly frames: readonly Frame[];
  /** Where they part. */
  readonly branches: readonly Branch[];
}

type Stacks = ReadonlyMap<number, readonly Frame[]>;

/** Returns the branches of stacks, each with the outermost frame first; `above` is the frame that called all of them. */
export function folded(stacks: Stacks, above?: Frame): Branch[] {
  const groups = new Map<string, Map<number, readonly Frame[]>>();
  for (const [rank, frames] of [...stacks].sort(([one], [other]) => one - other)) {
    const key = frames[0] ? keyOf(frames[0]) : '';
    groups.set(key, (groups.get(key) ?? new Map<number, readonly Frame[]>()).set(rank, frames));
  }
  return [...groups.values()].map((group) => {
    const shared = sharedBy(group);
    const frames = shared.length ? [...shared].reverse() : above ? [above] : [];
    const rest = new Map([...group].map(([rank, each]) => [rank, each.slice(shared.length)]));
    const goesOn = [...rest.values()].some(({ length }) => length > 0);
    return { ranks: [...group.keys()], frames, branches: goesOn ? folded(rest, frames[0]) : [] };
  });
}

function sharedBy(stacks: Stacks): Frame[] {
  const [first = [], ...others] = stacks.values();
  const parted = first.findIndex((frame, at) => others.some((each) => !each[at] || keyOf(each[at]) !== keyOf(frame)));
  return first.slice(0, parted < 0 ? undefined : parted);
}

/** Numbers that an adapter gives to sources without a file differ by rank. */
function keyOf({ name, source, line }: Frame): string {
  return JSON.stringify([name, source?.path ?? source?.name, line]);
}

/** Returns ascending ranks with ranges: `0, 2-7`. */
export function ranges(ranks: readonly number[]): string {
  const runs: number[][] = [];
  for (const rank of ranks) {
    const run = runs.at(-1);
    if (run?.at(-1) === rank - 1) run.push(rank);
    else runs.push([rank]);
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]}-${run.at(-1)}` : run.join(', '))).join(', ');
}
