import { expect, test } from 'vitest';
import { draw, told } from '../src/graph/drawing';
import { DRAWN, fold, isTooMuch, ofLines, outerBoxes, search, unfoldedAround, unfoldedAtFirst, view, type Box, type Graph, type GraphNode } from '../src/graph/folding';

const MODEL = '/home/me/model.py';

/** A model of so many equal layers: each with a norm that has a weight, then two operations on a line of its own. */
function model(layers: number): Graph {
  const nodes: GraphNode[] = [];
  const add = (name: string, more: Partial<GraphNode>): number =>
    nodes.push({ name, op: 'call_function', text: `${name} = …`, value: 'f32[8, 16]', inputs: [], stack: -1, module: '', source: '', ...more }) - 1;
  let last = add('l_x_', { op: 'placeholder', source: 'x' });
  const weights = Array.from({ length: layers }, (_, at) => add(`l_weight_${at}`, { op: 'placeholder', value: 'f32[16]', source: `layers.${at}.norm.weight` }));
  weights.forEach((weight, at) => {
    const norm = add(`norm_${at}`, { inputs: [last, weight], stack: 0, module: `layers.${at}.norm` });
    const sin = add(`sin_${at}`, { inputs: [norm], stack: 1, module: `layers.${at}` });
    last = add(`add_${at}`, { inputs: [sin, last], stack: 1, module: `layers.${at}` });
  });
  add('output', { op: 'output', text: 'return', value: '', inputs: [last] });
  const stack = (line: number): Graph['stacks'][number] => [{ path: MODEL, line, function: 'forward' }];
  return { name: 'forward', nodes, stacks: [stack(7), stack(8)], leftOut: 0 };
}

function tree(box: Box): unknown {
  return box.children.length > 0 ? { [`${box.kind} ${box.label}`]: box.children.map(tree) } : `${box.kind} ${box.label}`;
}

test('nodes are folded by module, then by line; a parameter is in the module that takes it', () => {
  const layer = (at: number): unknown => ({
    [`module layers.${at}`]: [{ [`module layers.${at}.norm`]: [`input layers.${at}.norm.weight`, `node norm_${at}`] }, { 'line model.py:8': [`node sin_${at}`, `node add_${at}`] }],
  });
  const root = fold(model(2));
  expect(tree(root)).toEqual({ 'graph forward': ['input x', { 'module layers': [layer(0), layer(1)] }, 'node output'] });
  const [, layers] = root.children;
  expect([layers?.detail, layers?.children[0]?.detail, layers?.place]).toEqual(['6 nodes', '3 nodes', { path: MODEL, line: 7, function: 'forward' }]);
});

test('edges lead between the boxes that are drawn, with the value or how many', () => {
  const graph = model(2);
  const root = fold(graph);
  const edges = (unfolded: Box[]): string[] => view(graph, root, new Set(unfolded)).edges.map(({ from, to, label }) => `${from.label} → ${to.label}: ${label}`);
  const layers = root.children[1] as Box;
  expect(edges([])).toEqual(['x → layers: f32[8, 16]', 'layers → output: f32[8, 16]']);
  expect(edges([layers])).toEqual(['x → layers.0: f32[8, 16]', 'layers.0 → layers.1: f32[8, 16]', 'layers.1 → output: f32[8, 16]']);
  const first = layers.children[0] as Box;
  expect(edges([layers, first]).slice(0, 3)).toEqual(['x → layers.0.norm: f32[8, 16]', 'layers.0.norm → model.py:8: f32[8, 16]', 'x → model.py:8: f32[8, 16]']);
  // what is unfolded within a folded box is not drawn
  expect(edges([first])).toEqual(edges([]));
});

test('several values between two boxes are one edge', () => {
  const graph = model(1);
  const nodes = [...graph.nodes.slice(0, -1), { ...(graph.nodes.at(-1) as GraphNode), inputs: [3, 4] }];
  const root = fold({ ...graph, nodes });
  expect(view({ ...graph, nodes }, root, new Set()).edges.map(({ label }) => label)).toEqual(['f32[8, 16]', '2 values']);
});

test('of a graph of 20,000 nodes few boxes are drawn', () => {
  const graph = model(5000);
  const root = fold(graph);
  const unfolded = unfoldedAtFirst(root);
  const seen = view(graph, root, unfolded);
  expect(seen.boxes.length).toBeLessThan(40);
  expect(draw(seen).placed.size).toBe(seen.boxes.length + seen.unfolded.length);
  expect(graph.nodes).toHaveLength(20_002);
  const sizes = [root, ...root.children.flatMap(function all(box: Box): Box[] {
    return [box, ...box.children.flatMap(all)];
  })].map((box) => box.children.length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(60);
  expect(isTooMuch(DRAWN, root.children[1] as Box)).toBe(true);
});

test('a search finds names, values, modules, inputs and lines; what is around a box can be unfolded', () => {
  const graph = model(3);
  const root = fold(graph);
  const labels = (text: string): string[] => search(root, text).map(({ label }) => label);
  expect(labels('SIN_1')).toEqual(['sin_1']);
  expect(labels('layers.2.norm')).toEqual(['layers.2.norm.weight', 'norm_2']);
  expect(labels('f32[16]')).toHaveLength(3);
  expect(labels('model.py:8')).toHaveLength(6);
  expect(labels('nowhere')).toEqual([]);
  const [sin] = search(root, 'sin_1');
  expect(outerBoxes(sin as Box).map(({ label }) => label)).toEqual(['model.py:8', 'layers.1', 'layers']);
});

test('the nodes of a line are found, and what is around them is unfolded while not too much is drawn', () => {
  const graph = model(2);
  const root = fold(graph);
  const lines = { path: MODEL, lines: [8], name: 'model.py:8' };
  const found = ofLines(root, graph, lines);
  expect(found.map(({ label }) => label)).toEqual(['sin_0', 'add_0', 'sin_1', 'add_1']);
  expect([...unfoldedAround(root, found)].map(({ label }) => label)).toEqual(['model.py:8', 'layers.0', 'layers', 'model.py:8', 'layers.1']);
  expect(ofLines(root, graph, { ...lines, path: '/home/me/other.py' })).toEqual([]);
  const large = model(5000);
  const all = fold(large);
  const boxes = ofLines(all, large, lines);
  expect(boxes).toHaveLength(10_000);
  const drawn = view(large, all, unfoldedAround(all, boxes)).boxes;
  expect(drawn.length).toBeLessThanOrEqual(DRAWN);
  expect(drawn).toContain(boxes[0]);
});

test('boxes and edges are drawn, unfolded ones around what is in them, and each says what it is', () => {
  const graph = model(1);
  const root = fold(graph);
  const norm = search(root, 'norm_0').at(-1) as Box;
  const unfolded = new Set(outerBoxes(norm));
  const { content, placed, width, height } = draw(view(graph, root, unfolded));
  const inner = placed.get(norm);
  for (const box of outerBoxes(norm)) {
    const outer = placed.get(box);
    expect(inner && outer && Math.abs(inner.x - outer.x) + inner.width / 2 <= outer.width / 2 && Math.abs(inner.y - outer.y) + inner.height / 2 <= outer.height / 2).toBe(true);
    expect(outer && outer.width <= width && outer.height <= height).toBe(true);
  }
  expect(content).toContain('role="treeitem" aria-label="norm_0 = …, f32[8, 16], in layers.0.norm, model.py:7"');
  expect(content).toContain('aria-label="module layers.0, 3 nodes, model.py:7" aria-expanded="true"');
  expect(content).toContain('aria-label="model.py:8, 2 nodes" aria-expanded="false"');
  expect(content.match(/class="edge"/g)).toHaveLength(5);
  expect(told(search(root, 'l_x_')[0] as Box)).toEqual(['input x', 'f32[8, 16]']);
});

test('what the program is called cannot add elements to the drawing', () => {
  const graph = model(1);
  const nodes = graph.nodes.map((node) => ({ ...node, source: node.source && '<script>"&', value: '<b>' }));
  const root = fold({ ...graph, nodes });
  const { content } = draw(view({ ...graph, nodes }, root, new Set()));
  expect(content).toContain('&lt;script&gt;&quot;&amp;');
  expect(content).not.toMatch(/<script|<b>/);
});
