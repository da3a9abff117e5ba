// What differs between two graphs. Their order does not matter, nor the numbers that torch puts after names.
import type { Graph, GraphNode } from './folding';

/** The nodes that another graph has not: with the same statement, value, module and source. */
export function differing(graph: Graph, other: Graph): Set<GraphNode> {
  const left = new Map<string, number>(); // how many such nodes of the other graph are not taken yet
  for (const node of other.nodes) left.set(likeness(node), (left.get(likeness(node)) ?? 0) + 1);
  return new Set(
    graph.nodes.filter((node) => {
      const count = left.get(likeness(node)) ?? 0;
      left.set(likeness(node), count - 1);
      return count <= 0;
    }),
  );
}

function likeness({ op, text, value, module, source }: GraphNode): string {
  return [op, text.replace(/\b([A-Za-z]\w*?)(_\d+)+\b/g, '$1'), value, module, source].join('\n');
}
