/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// The page of the graph picture: folds and unfolds, selects, searches, zooms; the extension opens lines and saves.
import { draw, told, type Drawing } from './drawing';
import { fold, isTooMuch, outerBoxes, search, unfoldedAtFirst, view, DRAWN, type Box, type Graph, type View } from './folding';

interface Host {
  postMessage(message: object): void;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): Host;

const host = acquireVsCodeApi();
const svg = element('picture') as unknown as SVGSVGElement;
const details = element('details');
const found = element('search') as HTMLInputElement;
const choice = element('graphs') as HTMLSelectElement;
/** How much a step of the wheel, or of + and -, enlarges. */
const STEP = 1.2;

let graph: Graph;
let root: Box;
let unfolded = new Set<Box>();
let seen: View;
let drawing: Drawing;
let selected: Box | undefined;
let at = { x: 0, y: 0, width: 1, height: 1 };

function element(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement;
}

function choose(chosen: Graph): void {
  graph = chosen;
  root = fold(graph);
  unfolded = unfoldedAtFirst(root);
  selected = undefined;
  show();
  fit();
  say(`${root.detail}${graph.leftOut ? `; ${graph.leftOut.toLocaleString('en')} more were not recorded` : ''}. ${HELP}`);
}

const HELP = 'Enter unfolds a box, or opens the line of a node; the arrow keys follow the edges; / searches.';

function show(): void {
  seen = view(graph, root, unfolded);
  drawing = draw(seen);
  svg.innerHTML = drawing.content;
  mark();
}

/** Marks the selected box and its edges. */
function mark(): void {
  const id = selected ? `${selected.id}` : '';
  for (const each of svg.querySelectorAll<SVGGElement>('.box')) {
    each.classList.toggle('selected', each.id === `box-${id}`);
    each.setAttribute('aria-selected', `${each.id === `box-${id}`}`);
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

function say(text: string): void {
  details.textContent = text;
}

/** Unfolds a box or folds it; what was at its middle stays there. */
function toggle(box: Box): void {
  const before = drawing.placed.get(box);
  if (unfolded.has(box)) unfolded.delete(box);
  else if (isTooMuch(seen.boxes.length, box)) {
    say(`At most ${DRAWN} boxes are drawn: fold others first.`);
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

function open({ place }: Box): void {
  if (place) host.postMessage({ type: 'open', place });
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

/** Enlarges by a factor around a point of the page, by default the middle. */
function zoom(factor: number, x = svg.clientWidth / 2, y = svg.clientHeight / 2): void {
  const [across, down] = [x / svg.clientWidth, y / svg.clientHeight];
  const [width, height] = [at.width / factor, at.height / factor];
  look({ x: at.x + (at.width - width) * across, y: at.y + (at.height - height) * down, width, height });
}

/** Selects the next box in which the text of the search is found, and unfolds what is around it. */
function next(): void {
  const boxes = found.value ? search(root, found.value) : [];
  const place = boxes.findIndex((box) => box === selected) + 1;
  const box = boxes[place % Math.max(boxes.length, 1)];
  if (!box) {
    say(`Nothing is found for ${found.value}.`);
    return;
  }
  unfolded = new Set(outerBoxes(box)); // only these: any number of boxes may have been unfolded
  show();
  select(box);
  const middle = drawing.placed.get(box);
  if (middle) center(middle);
  say(`${(place % boxes.length) + 1} of ${boxes.length}: ${told(box).join('  ')}`);
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

let drag: { readonly x: number; readonly y: number; readonly from: typeof at; moved: boolean } | undefined;
svg.addEventListener('pointerdown', ({ clientX, clientY }) => (drag = { x: clientX, y: clientY, from: at, moved: false }));
svg.addEventListener('pointermove', ({ clientX, clientY, buttons }) => {
  if (!drag || buttons === 0) return;
  const scale = at.width / svg.clientWidth;
  const [x, y] = [clientX - drag.x, clientY - drag.y];
  drag.moved ||= Math.abs(x) + Math.abs(y) > 4;
  if (drag.moved) look({ ...drag.from, x: drag.from.x - x * scale, y: drag.from.y - y * scale });
});
svg.addEventListener('click', ({ target, altKey }) => {
  const box = boxOf(target);
  if (!drag?.moved && box) {
    if (altKey) open(box);
    else activate(box);
  }
  drag = undefined;
});
svg.addEventListener(
  'wheel',
  (event) => {
    event.preventDefault();
    zoom(event.deltaY < 0 ? STEP : 1 / STEP, event.offsetX, event.offsetY);
  },
  { passive: false },
);
svg.addEventListener('keydown', (event) => {
  const { key } = event;
  if (key.startsWith('Arrow')) select(neighbour(key));
  else if (key === 'Enter' && selected) activate(selected);
  else if (key === 'o' && selected) open(selected);
  else if (key === 'Escape' && selected?.parent?.parent) toggle(selected.parent);
  else if (key === '+') zoom(STEP);
  else if (key === '-') zoom(1 / STEP);
  else if (key === '0') fit();
  else if (key === '/') found.focus();
  else return;
  event.preventDefault();
});
found.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') next();
  else if (key === 'Escape') svg.focus();
});
element('fold').addEventListener('click', () => {
  unfolded.clear();
  show();
  fit();
});
element('fit').addEventListener('click', fit);
element('save').addEventListener('click', () => host.postMessage({ type: 'save', svg: exported() }));
window.addEventListener('message', ({ data }: MessageEvent<{ readonly graphs: readonly Graph[]; readonly state: unknown }>) => {
  host.setState(data.state); // VS Code keeps it over a reload of the window
  const [first] = data.graphs;
  if (!first) return;
  choice.replaceChildren(...data.graphs.map(({ name }) => new Option(name)));
  choice.hidden = data.graphs.length === 1;
  choice.onchange = () => choose(data.graphs[choice.selectedIndex] ?? first);
  choose(first);
  svg.focus();
});
host.postMessage({ type: 'ready' });
