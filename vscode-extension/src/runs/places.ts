// The lines of the program that graphs and output code name: `# File: /home/me/model.py:10 in forward`.
const PLACE = /# (?:called at |Backward of forward node: )?File: (.+?):(\d+)(?= in )/g;

/** The places in a text, each with the columns that it takes in its line. */
export function places(text: string): { line: number; start: number; end: number; path: string; target: number }[] {
  return text.split('\n').flatMap((row, line) =>
    [...row.matchAll(PLACE)].map((found) => {
      const [whole, path = '', target] = found;
      const end = found.index + whole.length;
      return { line, start: end - `${path}:${target}`.length, end, path, target: Number(target) };
    }),
  );
}
