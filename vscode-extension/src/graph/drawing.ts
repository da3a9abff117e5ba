// Lays boxes out and draws them as SVG: dagre places them in layers, inputs at the top.
import { Graph as Layout, layout } from '@dagrejs/dagre';
import * as l10n from '@vscode/l10n';
import { escaped, round } from '../webviews/svg';
import { where, type Box, type View } from './folding';

interface Placed {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Drawing {
  /** The elements of the SVG, without the one around them. */
  readonly content: string;
  readonly width: number;
  readonly height: number;
  /** Where each box is: its middle, and its size. */
  readonly placed: ReadonlyMap<Box, Placed>;
}

const LETTER = 7;
const LINE = 17;
const MARGIN = 12;
/** The most letters of a label that are drawn. */
const LETTERS = 42;

/** Draws boxes and edges; those in `differing`, and what is around them, are marked. */
export function draw({ boxes, unfolded, edges }: View, differing: ReadonlySet<Box> = new Set()): Drawing {
  const graph = new Layout({ compound: true });
  graph.setGraph({ nodesep: 24, ranksep: 36, marginx: MARGIN, marginy: MARGIN });
  for (const box of unfolded) graph.setNode(name(box), {});
  for (const box of boxes) {
    const letters = Math.max(4, short(box.label).length, short(box.detail).length);
    graph.setNode(name(box), { width: letters * LETTER + 2 * MARGIN, height: LINE * (box.detail ? 2 : 1) + MARGIN });
  }
  const drawn = new Set(unfolded);
  for (const box of [...unfolded, ...boxes]) if (box.parent && drawn.has(box.parent)) graph.setParent(name(box), name(box.parent));
  for (const { from, to, label } of edges) {
    graph.setEdge(name(from), name(to), { width: short(label).length * LETTER, height: label ? LINE : 0, labelpos: 'c' });
  }
  layout(graph);
  const placed = new Map([...unfolded, ...boxes].map((box) => [box, graph.node(name(box)) as Placed]));
  const lines = edges.map(({ from, to, label }) => {
    const { points, x, y } = graph.edge(name(from), name(to)) as { points: { x: number; y: number }[]; x?: number; y?: number };
    const path = points.map((point, at) => `${at ? 'L' : 'M'}${round(point.x)} ${round(point.y)}`).join('');
    const text = label && x !== undefined && y !== undefined ? `<text class="value" x="${round(x)}" y="${round(y + 4)}">${escaped(short(label))}</text>` : '';
    return `<g class="edge" data-from="${from.id}" data-to="${to.id}"><path d="${path}" marker-end="url(#arrow)"/>${text}</g>`;
  });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const drawnBoxes = [...placed].map(([box, at]) => drawnBox(box, at, drawn.has(box), differing.has(box)));
  const content = `<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>`;
  return { content: [content, ...drawnBoxes.slice(0, unfolded.length), ...lines, ...drawnBoxes.slice(unfolded.length)].join('\n'), width, height, placed };
}

function drawnBox(box: Box, { x, y, width, height }: Placed, isUnfolded: boolean, differs: boolean): string {
  const left = round(x - width / 2);
  const top = round(y - height / 2);
  const state = box.children.length === 0 ? '' : ` aria-expanded="${isUnfolded}"`;
  const frame = `<rect x="${left}" y="${top}" width="${round(width)}" height="${round(height)}" rx="4"/>`;
  const second = box.detail && !isUnfolded ? `<text class="detail" x="${round(x)}" y="${top + 2 * LINE}">${escaped(short(box.detail))}</text>` : '';
  const label = isUnfolded
    ? `<text class="title" x="${left + 6}" y="${top + LINE - 3}">▾ ${escaped(short(box.label))}</text>`
    : `<text x="${round(x)}" y="${top + LINE}">${box.children.length > 0 ? '▸ ' : ''}${escaped(short(box.label))}</text>`;
  return `<g id="box-${box.id}" class="box ${box.kind}${isUnfolded ? ' unfolded' : ''}${differs ? ' differs' : ''}" role="treeitem" aria-label="${escaped([...told(box), ...(differs ? [l10n.t('differs')] : [])].join(', '))}"${state}>${frame}${label}${second}</g>`;
}

/** What is said of a box: what it is, its value or size, its lines. */
export function told({ kind, label, detail, node, place }: Box): string[] {
  const module = node?.module && kind === 'node' ? l10n.t('in {0}', node.module) : '';
  const what = kind === 'module' ? l10n.t('module {0}', label) : kind === 'input' ? l10n.t('input {0}', label) : (node?.text ?? '') || label;
  return [what, detail, module, place && kind !== 'line' ? where(place) : ''].filter(Boolean);
}

function name({ id }: Box): string {
  return `${id}`;
}

function short(text: string): string {
  return text.length <= LETTERS ? text : `${text.slice(0, LETTERS - 1)}…`;
}
