// What a user does in the editor: open a file, click in the margin, point at a word.
import fs from 'node:fs';
import path from 'node:path';

const quickInput = '.quick-input-widget:visible';

/** Type into the box that a key opens, and choose; again where the end of a session took the focus, which closes the box. */
async function fromQuickInput(page, key, text, act) {
  for (let attempt = 1; ; attempt++) {
    await page.keyboard.press(key);
    try {
      await page.locator(`${quickInput} input.input`).first().fill(text, { timeout: 5_000 });
      return await act();
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

function clickRow(page, label) {
  return page.locator(`${quickInput} .monaco-list-row[aria-label^="${label}"]`).first().click({ timeout: 10_000 });
}

/** Run a command by its title through the command palette. */
export async function command(page, title) {
  await fromQuickInput(page, 'F1', `>${title}`, () => clickRow(page, title));
}

/** Run a command by its title with the keyboard alone. */
export async function typeCommand(page, title) {
  await fromQuickInput(page, 'F1', `>${title}`, async () => {
    await page.locator(`${quickInput} .monaco-list-row.focused[aria-label^="${title}"]`).waitFor({ timeout: 10_000 });
    await page.keyboard.press('Enter');
  });
}

/** Open a file by its path, inside the workspace or not, and go to a line. */
export async function openFile(page, file, line = 1) {
  // Not Enter: for a moment the list still shows what was open before.
  await fromQuickInput(page, 'Control+p', file, () => clickRow(page, path.basename(file)));
  await page.waitForSelector(`.tab.active:has-text("${path.basename(file)}")`);
  await page.waitForSelector('.editor-instance .view-line span[class^="mtk"]'); // the span of an empty line is never visible
  await goToLine(page, line);
}

export async function goToLine(page, line) {
  await fromQuickInput(page, 'Control+g', `:${line}`, () => page.keyboard.press('Enter'));
  await page.locator(quickInput).waitFor({ state: 'hidden' });
  await lineNumber(page, line).waitFor();
}

/** Number of the first line of `file` that contains `text`. */
export function lineOf(file, text) {
  const index = fs.readFileSync(file, 'utf8').split('\n').findIndex((line) => line.includes(text));
  if (index < 0) throw new Error(`${file} has no line with ${JSON.stringify(text)}`);
  return index + 1;
}

function lineNumber(page, line) {
  return page.locator('.editor-instance .margin-view-overlays .line-numbers', { hasText: new RegExp(`^${line}$`) }).first();
}

/** Click in the margin left of a line number, as users set and remove breakpoints; again if the editor was still scrolling. */
export async function clickGutter(page, line) {
  const wanted = !(await breakpointLines(page)).includes(line);
  for (let attempt = 1; ; attempt++) {
    try {
      const number = await lineNumber(page, line).boundingBox();
      const margin = await page.locator('.editor-instance .margin').first().boundingBox();
      await page.mouse.click(margin.x + 9, number.y + number.height / 2);
      await page.waitForFunction(([source, line, wanted]) => new Function(`return ${source}`)()().includes(line) === wanted, [linesWithBreakpoint.toString(), line, wanted], { timeout: 3_000 });
      return;
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

/** The number of the editor's line with a text. Both are looked up at once, again and again: the editor may be scrolling. */
export async function numberOfLine(page, text) {
  const found = await page.waitForFunction((text) => {
    const y = (each) => each.getBoundingClientRect().y;
    const line = [...document.querySelectorAll('.editor-instance .view-line')].find((each) => each.textContent.replace(/\s+/g, ' ').includes(text));
    const numbers = [...document.querySelectorAll('.editor-instance .margin-view-overlays .line-numbers')];
    return line && Number(numbers.find((each) => Math.abs(y(each) - y(line)) < 3)?.textContent);
  }, text);
  return found.jsonValue();
}

/** The lines whose margin shows a breakpoint, by the glyph's place. */
export function breakpointLines(page) {
  return page.evaluate(linesWithBreakpoint);
}

function linesWithBreakpoint() {
  const numbers = [...document.querySelectorAll('.editor-instance .margin-view-overlays .line-numbers')];
  const glyphs = document.querySelectorAll('.editor-instance .glyph-margin-widgets .cgmr[class*="codicon-debug-breakpoint"]');
  const rows = [...glyphs].map((glyph) => Math.round(glyph.getBoundingClientRect().y));
  return numbers.filter((number) => rows.includes(Math.round(number.getBoundingClientRect().y))).map((number) => Number(number.textContent));
}

/** The lines that a squiggle of this severity is under, by its place. */
export function squiggledLines(page, severity) {
  return page.evaluate((severity) => {
    const numbers = [...document.querySelectorAll('.editor-instance .margin-view-overlays .line-numbers')];
    const rows = [...document.querySelectorAll(`.editor-instance .view-overlays .squiggly-${severity}`)].map((each) => each.getBoundingClientRect());
    const at = (number) => number.getBoundingClientRect().y + number.getBoundingClientRect().height / 2;
    return numbers.filter((number) => rows.some((row) => row.top <= at(number) && at(number) <= row.bottom)).map((number) => Number(number.textContent));
  }, severity);
}

/** The text of the visible line that begins with `start`, inlay hints included. */
export async function visibleLine(page, start) {
  const lines = (await page.locator('.editor-instance .view-line').allTextContents()).map((line) => line.replace(/[\u00a0\u200b-\u200d\u2060]/g, (c) => (c === '\u00a0' ? ' ' : '')).trim());
  return lines.find((line) => line.startsWith(start)) ?? '';
}

/** Screen position of the first `text` in the visible line that contains `within`. */
async function positionOf(page, within, text) {
  const place = await page.evaluate(
    ([within, text]) => {
      const plain = (s) => s.replace(/\u00a0/g, ' ');
      for (const line of document.querySelectorAll('.editor-instance .view-line')) {
        const start = plain(line.textContent).indexOf(within);
        if (start < 0) continue;
        const nodes = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node; (node = nodes.nextNode()); ) {
          const at = plain(node.data).indexOf(text);
          if (at < 0) continue;
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + text.length);
          const box = range.getBoundingClientRect();
          return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
        }
      }
      return null;
    },
    [within, text],
  );
  if (!place) throw new Error(`no "${text}" in a visible line with "${within}"`);
  return place;
}

export const DEBUG_HOVER = '.debug-hover-widget:visible';
export const EDITOR_HOVER = '.monaco-editor .monaco-hover:visible';

/** Point at a word until the hover shows; the editor swallows a mouse move now and then. */
export async function hover(page, within, text, kind = DEBUG_HOVER) {
  const widget = page.locator(kind).first();
  for (let attempt = 1; ; attempt++) {
    const { x, y } = await positionOf(page, within, text);
    await page.mouse.move(x + 120, y + 160);
    await page.mouse.move(x, y, { steps: 4 });
    await page.mouse.move(x + 2, y + 1, { steps: 3 });
    try {
      await widget.waitFor({ timeout: 4_000 });
      return widget;
    } catch (error) {
      if (attempt === 10) throw error;
    }
  }
}

/** Choose an entry of the context menu of an element. */
export async function choose(page, element, entry) {
  await fromMenu(page, entry, () => element.click({ button: 'right' }));
}

/** Choose an entry of the context menu of the margin left of a line. */
export async function chooseInGutter(page, line, entry) {
  await fromMenu(page, entry, async () => {
    const number = await lineNumber(page, line).boundingBox();
    const margin = await page.locator('.editor-instance .margin').first().boundingBox();
    await page.mouse.click(margin.x + 9, number.y + number.height / 2, { button: 'right' });
  });
}

/** A menu that has just opened takes no click, and closes when a view is drawn anew: again until it has taken one. */
async function fromMenu(page, entry, open) {
  const item = page.locator('.monaco-menu .action-item:visible', { has: page.getByText(entry, { exact: true }) }).first();
  for (let attempt = 1; ; attempt++) {
    try {
      if (!(await item.isVisible())) await open();
      await item.hover({ timeout: 5_000 });
      await item.click({ timeout: 5_000 });
      await item.waitFor({ state: 'hidden', timeout: 1_000 });
      return;
    } catch (error) {
      if (attempt === 8) throw error;
    }
  }
}

/** Follow a link in the editor to the file it names; again where the click fell between two drawings of the line, which makes the links anew. */
export async function followLink(page, text, file) {
  const link = page.locator('.editor-instance .detected-link', { hasText: text }).first();
  for (let attempt = 1; ; attempt++) {
    try {
      await link.click({ modifiers: ['Control'], timeout: 5_000 });
      await page.waitForSelector(`.tab.active:has-text("${file}")`, { timeout: 10_000 });
      return;
    } catch (error) {
      if (attempt === 5) throw error;
      await page.mouse.move(5, 5); // Control and the pointer's place have made a link of the word: both are left, and come again
    }
  }
}

/** The entries of the context menu of an element that can be chosen. */
export async function menuOf(page, element) {
  await element.click({ button: 'right' });
  const entries = page.locator('.monaco-menu .action-item:visible:not(.disabled) .action-label');
  await entries.first().waitFor();
  const names = await entries.allInnerTexts();
  await page.keyboard.press('Escape');
  await page.locator('.monaco-menu:visible').waitFor({ state: 'hidden' });
  return names;
}

/** Pick a row of the list that has opened at the top. */
export async function pick(page, text) {
  await page.locator(`${quickInput} .monaco-list-row`, { hasText: text }).first().click();
}

/** Drag the border at the right (dx) or at the top (dy) of an element by so many pixels. */
export async function dragBorder(page, selector, { dx = 0, dy = 0 }) {
  const box = await page.locator(selector).first().boundingBox();
  const [x, y] = dx ? [box.x + box.width, box.y + box.height / 2] : [box.x + box.width / 2, box.y];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx, y + dy, { steps: 5 });
  await page.mouse.up();
}
