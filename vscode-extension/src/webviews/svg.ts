// What every drawing does with its numbers and texts.

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
