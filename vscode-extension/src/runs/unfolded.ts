// Which rows of the view the user unfolded or folded: VS Code does not know it any more after a window reload.
import type * as vscode from 'vscode';

const KEPT = 'dynascope.unfolded';
/** The most rows that are remembered; of more, those that were changed last. */
const MOST = 500;

/** What the user did with rows, by their ids. */
export interface Unfolded {
  readonly isOpen: (id: string, otherwise: boolean) => boolean;
  readonly remember: (id: string, isOpen: boolean) => void;
}

/** Reads what is remembered in the workspace. */
export function unfolded(memory: vscode.Memento): Unfolded {
  const known = new Map(memory.get<readonly [string, boolean][]>(KEPT, []));
  const remember = (id: string, isOpen: boolean): void => {
    known.delete(id); // it becomes the last one
    known.set(id, isOpen);
    for (const oldest of [...known.keys()].slice(0, -MOST)) known.delete(oldest);
    void memory.update(KEPT, [...known]);
  };
  return { isOpen: (id, otherwise) => known.get(id) ?? otherwise, remember };
}
