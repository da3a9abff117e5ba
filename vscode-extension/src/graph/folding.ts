// Folds a graph: boxes within boxes, by module, then by line of the program, then by number. Only unfolded boxes are laid out.
import * as l10n from '@vscode/l10n';

export interface Place {
  readonly path: string;
  readonly line: number;
  readonly function: string;
}

/** A node as the server's request `dynascope/graph` lists it. */
export interface GraphNode {
  readonly name: string;
  readonly op: string;
  readonly text: string;
  readonly value: string;
  /** The numbers of the nodes that it takes. */
  readonly inputs: readonly number[];
  /** The number of its lines in `stacks`; -1 for none. */
  readonly stack: number;
  readonly module: string;
  readonly source: string;
}

export interface Graph {
  readonly name: string;
  readonly nodes: readonly GraphNode[];
  /** Lines of the program, the innermost first; before them that of a library's model. */
  readonly stacks: readonly (readonly Place[])[];
  readonly leftOut: number;
}

/** Lines of a file, as they were recorded, and what they are called. */
export interface Lines {
  readonly path: string;
  readonly lines: readonly number[];
  readonly name: string;
}

/** A node, or nodes that follow one another in the graph: those of a module, of a line, or a part of a long list. */
export interface Box {
  readonly id: number;
  readonly kind: 'graph' | 'module' | 'line' | 'part' | 'node' | 'input';
  readonly label: string;
  /** Its value, or how many nodes are in it. */
  readonly detail: string;
  /** How many operations are in it. */
  readonly size: number;
  readonly node?: GraphNode;
  readonly place?: Place;
  /** The lines that call it. */
  readonly callers?: readonly Place[];
  readonly parent?: Box;
  readonly children: readonly Box[];
}

/** What is drawn of an edge: from box to box, with the value that goes along it. */
export interface Edge {
  readonly from: Box;
  readonly to: Box;
  readonly label: string;
}

/** What is drawn: `boxes` without visible parts, and unfolded ones around them, outer ones first. */
export interface View {
  readonly boxes: readonly Box[];
  readonly unfolded: readonly Box[];
  readonly edges: readonly Edge[];
}

/** The most boxes side by side before they are put into parts, and how many go into one. */
const MANY = 60;
const PART = 50;
/** The most boxes that are drawn: laying out more takes seconds. */
export const DRAWN = 300;
/** Boxes are unfolded at first while there are at most so many. */
const AT_FIRST = 30;

interface Item {
  readonly number: number;
  readonly path: readonly string[];
  readonly stack: number;
}
type Draft = { -readonly [name in keyof Box]: Box[name] };

/** The boxes of a graph, in a box of their own. A box holds nodes that follow one another, so that no two depend on each other. */
export function fold(graph: Graph): Box {
  let count = 0;
  const box = (kind: Box['kind'], label: string, children: Box[], more: Partial<Box> = {}): Box => {
    const place = children.find((each) => each.place)?.place;
    const made: Draft = { id: count++, kind, label, detail: '', size: 0, children, ...(place && { place }), ...more };
    if (children.length > 0) made.detail = counted((made.size = children.reduce((sum, { size }) => sum + size, 0)));
    for (const child of children) (child as Draft).parent = made;
    return made;
  };
  const leaf = ({ number, stack }: Item): Box => {
    const node = graph.nodes[number] as GraphNode;
    const [place, ...callers] = graph.stacks[stack] ?? [];
    const label = node.source || (node.op === 'output' ? 'output' : node.name);
    const size = node.op.startsWith('call') ? 1 : 0;
    return box(node.op === 'placeholder' ? 'input' : 'node', label, [], { node, size, detail: node.value, ...(place && { place, callers }) });
  };
  /** A box around boxes; one that would only hold another box that holds several takes its place. */
  const around = (kind: Box['kind'], label: string, children: Box[]): Box => {
    const [only] = children;
    if (children.length > 1 || !only || only.children.length === 0) return box(kind, label, inParts(children));
    return box(kind, only.kind === 'module' ? only.label : label, [...only.children]);
  };
  const inParts = (children: Box[]): Box[] => {
    if (children.length <= MANY) return children;
    const parts = [];
    for (let at = 0; at < children.length; at += PART) {
      const some = children.slice(at, at + PART);
      parts.push(box('part', `${some[0]?.label ?? ''} … ${some.at(-1)?.label ?? ''}`, some));
    }
    return inParts(parts);
  };
  const below = (items: readonly Item[], depth: number): Box[] =>
    runs(items, ({ path, stack }) => (path.length > depth ? `module ${path[depth]}` : `line ${stack}`)).map((run) => {
      const [first] = run as [Item];
      if (first.path.length > depth) return around('module', first.path.slice(0, depth + 1).join('.'), below(run, depth + 1));
      const leaves = run.map(leaf);
      const place = graph.stacks[first.stack]?.[0];
      return leaves.length === 1 || !place ? leaves : around('line', where(place), leaves);
    }).flat();
  return box('graph', graph.name, inParts(below(ordered(graph), 0)));
}

/** The nodes in their order, but parameters just before the first node that takes them, as parts of its module and line. */
function ordered({ nodes }: Graph): Item[] {
  const isParameter = ({ op, source }: GraphNode): boolean => op === 'placeholder' && /^[\w-]+\./.test(source);
  const items: Item[] = [];
  const placed = new Set<number>();
  nodes.forEach((node, number) => {
    if (isParameter(node)) return;
    const path = node.module ? node.module.split('.') : [];
    for (const input of node.inputs) {
      const taken = nodes[input];
      if (!taken || !isParameter(taken) || placed.has(input)) continue;
      placed.add(input);
      items.push({ number: input, path, stack: node.stack });
    }
    items.push({ number, path, stack: node.stack });
  });
  nodes.forEach((node, number) => {
    if (isParameter(node) && !placed.has(number)) items.unshift({ number, path: [], stack: -1 });
  });
  return items;
}

/** Items that follow one another with the same key. */
function runs<T>(items: readonly T[], key: (item: T) => string): T[][] {
  const found: T[][] = [];
  let last: string | undefined;
  for (const item of items) {
    const now = key(item);
    if (now === last) found.at(-1)?.push(item);
    else found.push([item]);
    last = now;
  }
  return found;
}

/** What is drawn where these boxes are unfolded; that around all always is. */
export function view(graph: Graph, root: Box, unfolded: ReadonlySet<Box>): View {
  const boxes: Box[] = [];
  const clusters: Box[] = [];
  const shown = new Map<GraphNode, Box>();
  const walk = (box: Box): void => {
    if (box !== root && (box.children.length === 0 || !unfolded.has(box))) {
      boxes.push(box);
      for (const { node } of leaves(box)) if (node) shown.set(node, box);
      return;
    }
    if (box !== root) clusters.push(box);
    box.children.forEach(walk);
  };
  walk(root);
  const found = new Map<string, { from: Box; to: Box; nodes: Set<GraphNode> }>();
  for (const node of graph.nodes) {
    const to = shown.get(node);
    for (const input of node.inputs) {
      const taken = graph.nodes[input];
      const from = taken && shown.get(taken);
      if (!from || !to || from === to) continue;
      const key = `${from.id} ${to.id}`;
      const edge = found.get(key) ?? { from, to, nodes: new Set() };
      found.set(key, edge);
      edge.nodes.add(taken);
    }
  }
  const edges = [...found.values()].map(({ from, to, nodes }) => {
    const [only] = nodes;
    return { from, to, label: nodes.size === 1 ? (only?.value ?? '') : l10n.t('{0} values', nodes.size) };
  });
  return { boxes, unfolded: clusters, edges };
}

/** The boxes that are unfolded at first: outer ones before inner ones, while few boxes are drawn. */
export function unfoldedAtFirst(root: Box): Set<Box> {
  const unfolded = new Set<Box>();
  let drawn = root.children.length;
  for (const waiting = [...root.children]; waiting.length > 0; ) {
    const box = waiting.shift() as Box;
    if (box.children.length === 0 || drawn - 1 + box.children.length > AT_FIRST) continue;
    drawn += box.children.length - 1;
    unfolded.add(box);
    waiting.push(...box.children);
  }
  return unfolded;
}

/** Whether so many boxes would be drawn that a box must stay folded. */
export function isTooMuch(drawn: number, box: Box): boolean {
  return drawn - 1 + box.children.length > DRAWN;
}

/** The boxes of nodes that a text is found in: name, statement, value, module, input, file and line. */
export function search(root: Box, text: string): Box[] {
  const wanted = text.toLowerCase();
  return leaves(root).filter(({ node, label, place, callers = [] }) => {
    const places = place ? [place, ...callers] : [];
    const told = [label, node?.name, node?.text, node?.value, node?.module, ...places.map((each) => `${each.path}:${each.line}`)];
    return told.some((each) => each?.toLowerCase().includes(wanted));
  });
}

/** The boxes of nodes that are from lines of a file, or from functions that are called there. */
export function ofLines(root: Box, { stacks }: Graph, { path, lines }: Lines): Box[] {
  return leaves(root).filter(({ node }) => node && stacks[node.stack]?.some((place) => place.path === path && lines.includes(place.line)));
}

/** The boxes of nodes. */
export function boxesOf(root: Box, nodes: ReadonlySet<GraphNode>): Box[] {
  return leaves(root).filter(({ node }) => node && nodes.has(node));
}

/** The boxes around boxes, the first ones first, while not too many are drawn. */
export function unfoldedAround(root: Box, boxes: readonly Box[]): Set<Box> {
  const unfolded = new Set<Box>();
  let drawn = root.children.length;
  for (const box of boxes) {
    const outer = outerBoxes(box).filter((each) => !unfolded.has(each));
    drawn += outer.reduce((sum, { children }) => sum + children.length - 1, 0);
    if (drawn > DRAWN && unfolded.size > 0) break;
    for (const each of outer) unfolded.add(each);
  }
  return unfolded;
}

/** The boxes around a box, the innermost first, without that around all. */
export function outerBoxes(box: Box): Box[] {
  const found = [];
  for (let outer = box.parent; outer?.parent; outer = outer.parent) found.push(outer);
  return found;
}

export function where({ path, line }: Place): string {
  return `${path.split(/[/\\]/).at(-1) ?? path}:${line}`;
}

/** The boxes in a box that hold no others, in their order. */
function leaves(box: Box, found: Box[] = []): Box[] {
  if (box.children.length === 0) found.push(box);
  for (const child of box.children) leaves(child, found);
  return found;
}

function counted(nodes: number): string {
  return nodes === 1 ? l10n.t('1 node') : l10n.t('{0} nodes', nodes.toLocaleString('en'));
}
