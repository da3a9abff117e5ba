/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// The page of the graph picture: folds and unfolds, selects, searches, zooms; the extension opens lines and saves.
import * as l10n from '@vscode/l10n';
import { element, host, open, say, selectNext, serve, svg } from '../webviews/pages';
import { differing } from './differing';
import { draw, told, type Drawing } from './drawing';
import { boxesOf, fold, isTooMuch, ofLines, outerBoxes, search, unfoldedAround, unfoldedAtFirst, view, DRAWN, type Box, type Graph, type Lines, type View } from './folding';

/** What the graphs are compared with. */
interface Other {
  readonly title: string;
  readonly graphs: readonly Graph[];
}

const choice = element('graphs') as HTMLSelectElement;

let graphs: readonly Graph[] = [];
let other: Other | undefined;
/** The boxes of nodes that the other graph has not, and those with the ones around them. */
let differ: readonly Box[] = [];
let differAround = new Set<Box>();
let graph: Graph;
let root: Box;
let unfolded = new Set<Box>();
let seen: View;
let drawing: Drawing;
let selected: Box | undefined;
/** The boxes of the line that was asked for. */
let asked = new Set<Box>();
let at = { x: 0, y: 0, width: 1, height: 1 };

function choose(chosen: Graph): void {
  graph = chosen;
  root = fold(graph);
  const compared = other?.graphs.find(({ name }) => name === graph.name) ?? other?.graphs[0];
  differ = compared ? boxesOf(root, differing(graph, compared)) : [];
  differAround = new Set(differ.flatMap((box) => [box, ...outerBoxes(box)]));
  unfolded = differ.length > 0 ? unfoldedAround(root, differ) : unfoldedAtFirst(root);
  selected = undefined;
  asked.clear();
  show();
  fit();
  const difference = compared ? `${l10n.t('{0} of {1} nodes differ from {2}; n selects the next.', differ.length, graph.nodes.length, other?.title ?? '')} ` : '';
  const size = graph.leftOut ? l10n.t('{0}; {1} more were not recorded.', root.detail, graph.leftOut.toLocaleString('en')) : `${root.detail}.`;
  say(`${difference}${size} ${HELP}`);
}

const HELP = l10n.t('Enter unfolds a box, or opens the line of a node; the arrow keys follow the edges; / searches.');

function show(): void {
  seen = view(graph, root, unfolded);
  drawing = draw(seen, differAround);
  svg.innerHTML = drawing.content;
  mark();
}

/** Marks the selected box and its edges, and the boxes of the line that was asked for. */
function mark(): void {
  const id = selected ? `${selected.id}` : '';
  const marked = new Set([...asked].map((box) => `box-${box.id}`)).add(`box-${id}`);
  for (const each of svg.querySelectorAll<SVGGElement>('.box')) {
    each.classList.toggle('selected', marked.has(each.id));
    each.setAttribute('aria-selected', `${marked.has(each.id)}`);
  }
  for (const each of svg.querySelectorAll<SVGGElement>('.edge')) each.classList.toggle('selected', [each.dataset['from'], each.dataset['to']].includes(id));
  if (selected) svg.setAttribute('aria-activedescendant', `box-${id}`);
  else svg.removeAttribute('aria-activedescendant');
}

function select(box: Box | undefined): void {
  if (!box) return;
  selected = box;
  mark();
  say(told(box).join('  '));
  const place = drawing.placed.get(box);
  if (place && (place.x < at.x || place.y < at.y || place.x > at.x + at.width || place.y > at.y + at.height)) center(place);
}

/** Unfolds a box or folds it; what was at its middle stays there. */
function toggle(box: Box): void {
  const before = drawing.placed.get(box);
  if (unfolded.has(box)) unfolded.delete(box);
  else if (isTooMuch(seen.boxes.length, box)) {
    say(l10n.t('At most {0} boxes are drawn: fold others first.', DRAWN));
    return;
  } else unfolded.add(box);
  show();
  const after = drawing.placed.get(box);
  if (before && after) look({ ...at, x: at.x + after.x - before.x, y: at.y + after.y - before.y });
  select(box);
}

/** Does what a click does: a node opens its line, all else unfolds or folds. */
function activate(box: Box): void {
  if (box.children.length > 0) toggle(box);
  else {
    select(box);
    open(box);
  }
}

function look(part: typeof at): void {
  at = part;
  svg.setAttribute('viewBox', `${at.x} ${at.y} ${at.width} ${at.height}`);
}

function fit(): void {
  const { clientWidth, clientHeight } = svg;
  const scale = Math.max(drawing.width / Math.max(clientWidth, 1), drawing.height / Math.max(clientHeight, 1), 0.7);
  const readable = Math.min(scale, 1.6); // large graphs begin at their top, at a size that can be read
  look({ x: (drawing.width - clientWidth * readable) / 2, y: scale > readable ? 0 : (drawing.height - clientHeight * readable) / 2, width: clientWidth * readable, height: clientHeight * readable });
}

function center({ x, y }: { readonly x: number; readonly y: number }): void {
  look({ ...at, x: x - at.width / 2, y: y - at.height / 2 });
}

function zoom(factor: number, x = svg.clientWidth / 2, y = svg.clientHeight / 2): void {
  const [across, down] = [x / svg.clientWidth, y / svg.clientHeight];
  const [width, height] = [at.width / factor, at.height / factor];
  look({ x: at.x + (at.width - width) * across, y: at.y + (at.height - height) * down, width, height });
}

/** Selects the next box in which the text of the search is found. */
function next(): void {
  selectNext((text) => search(root, text), selected, reach);
}

/** Selects a box after unfolding what is around it; returns what is said of it. */
function reach(box: Box): string {
  if (!drawing.placed.has(box)) {
    unfolded = unfoldedAround(root, [box]); // only these: any number of boxes may have been unfolded
    show();
  }
  select(box);
  const middle = drawing.placed.get(box);
  if (middle) center(middle);
  return told(box).join('  ');
}

/** Selects the nodes of lines, in the first graph that has some, and unfolds what is around them. */
function selectLines(lines: Lines): void {
  const found = [graph, ...graphs].find((each) => ofLines(fold(each), each, lines).length > 0);
  if (!found) return;
  if (found !== graph) choose(found);
  choice.selectedIndex = graphs.indexOf(graph);
  const boxes = ofLines(root, graph, lines);
  unfolded = unfoldedAround(root, boxes);
  asked = new Set(boxes);
  show();
  const [first] = boxes;
  if (first) reach(first);
  say(`${boxes.length === 1 ? l10n.t('1 node is from {0}.', lines.name) : l10n.t('{0} nodes are from {1}.', boxes.length, lines.name)} ${HELP}`);
}

/** The box before or after in the order of the graph; the one that an edge leads to, or comes from. */
function neighbour(key: string): Box | undefined {
  if (!selected) return seen.boxes[0];
  if (key === 'ArrowDown') return seen.edges.find(({ from }) => from === selected)?.to;
  if (key === 'ArrowUp') return seen.edges.find(({ to }) => to === selected)?.from;
  const place = seen.boxes.indexOf(selected);
  return seen.boxes[place + (key === 'ArrowRight' ? 1 : -1)];
}

/** The drawing with the colours that it has now, for other programs. */
function exported(): string {
  const style = getComputedStyle(document.documentElement);
  const rules = element('style').textContent.split('/* page */')[0] ?? '';
  const colors = rules.replace(/var\((--[\w-]+)(?:, *var\((--[\w-]+)\))?\)/g, (_, name: string, other = '') => style.getPropertyValue(name) || style.getPropertyValue(other as string) || 'gray');
  const background = style.getPropertyValue('--vscode-editor-background') || 'white';
  const frame = `width="${drawing.width}" height="${drawing.height}" viewBox="0 0 ${drawing.width} ${drawing.height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${frame} font-family="sans-serif"><style>${colors}</style><rect width="100%" height="100%" fill="${background}"/>\n${drawing.content}\n</svg>\n`;
}

function boxOf(target: EventTarget | null): Box | undefined {
  const id = (target as Element | null)?.closest('.box')?.id;
  return id === undefined ? undefined : [...drawing.placed.keys()].find((box) => `box-${box.id}` === id);
}

function key(name: string): boolean {
  if (name.startsWith('Arrow')) select(neighbour(name));
  else if (name === 'Enter' && selected) activate(selected);
  else if (name === 'o' && selected) open(selected);
  else if (name === 'n' && differ.length > 0) reach(differ[(differ.findIndex((box) => box === selected) + 1) % differ.length] as Box);
  else if (name === 'Escape' && selected?.parent?.parent) toggle(selected.parent);
  else return false;
  return true;
}

function click({ target, altKey }: MouseEvent): void {
  const box = boxOf(target);
  if (box && altKey) open(box);
  else if (box) activate(box);
}

function drag(from: typeof at, x: number, y: number): void {
  const scale = from.width / svg.clientWidth;
  look({ ...from, x: from.x - x * scale, y: from.y - y * scale });
}

element('fold').addEventListener('click', () => {
  unfolded.clear();
  show();
  fit();
});
element('save').addEventListener('click', () => host.postMessage({ type: 'save', svg: exported() }));
choice.addEventListener('change', () => {
  const chosen = graphs[choice.selectedIndex];
  if (chosen) choose(chosen);
});
serve({ looked: () => at, drag, zoom, fit, next, click, key }, ({ graphs: sent, lines, ...more }: { readonly graphs?: readonly Graph[]; readonly lines?: Lines; readonly other?: Other }) => {
  const [first] = sent ?? [];
  if (sent && first) {
    graphs = sent;
    other = more.other;
    choice.replaceChildren(...graphs.map(({ name }) => new Option(name)));
    choice.hidden = graphs.length === 1;
    choose(first);
  }
  if (lines) selectLines(lines);
});
