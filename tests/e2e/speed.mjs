// How fast the extension is in the workbench: `node speed.mjs [NODES]` prints milliseconds and frames a second, also of typing.
// Not a part of the suite: times depend on the machine. Needs what run.sh prepares.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { command, openFile } from './support/editor.mjs';
import { drawn as drawnIn, open, row } from './support/runs.mjs';
import { PYTHON, startWorkbench } from './support/workbench.mjs';

const nodes = process.argv[2] ?? '20000';
const COMPILES = 1000;
const KEYS = 60;
const root = path.join(import.meta.dirname, '../..');
const python = (...args) => execFileSync(PYTHON, args, { cwd: root });
const prepare = (workspace) => {
  python('-c', `import pathlib, tests.bench.explorer as bench; bench.write_store(pathlib.Path("${workspace}"), ${COMPILES})`);
  python('-m', 'tests.bench.large_graph', workspace, nodes);
};
const workbench = await startWorkbench({ prepare });
const { page } = workbench;
const drawn = (which) => drawnIn(page, which);

/** Milliseconds from the first event of a kind that `act` causes to the first frame with an element whose text matches. */
async function took(page, event, selector, pattern, act) {
  await page.evaluate(
    ([event, selector, pattern]) => {
      const wanted = new RegExp(pattern);
      const isThere = () => [...document.querySelectorAll(selector)].some(({ textContent }) => wanted.test(textContent.replaceAll('\u00a0', ' ')));
      window.shown = new Promise((resolve) => {
        const look = (began) => (isThere() ? resolve(performance.now() - began) : requestAnimationFrame(() => look(began)));
        window.addEventListener(event, ({ timeStamp }) => requestAnimationFrame(() => look(timeStamp)), { capture: true, once: true });
      });
    },
    [event, selector, pattern],
  );
  await act();
  return Math.round(await page.evaluate(() => window.shown));
}

/** Milliseconds until the rows below a row are seen, by the first of them. */
async function opening(label, first) {
  const twistie = row(page, label, '[aria-expanded="false"]').locator('.monaco-tl-twistie');
  return took(page, 'mousedown', '.part.sidebar .monaco-list-row', first, () => twistie.click());
}

/** Milliseconds from a key to the frame with its character: with the extension, and in a workbench without it, key by key in turn. */
async function typing() {
  const other = await startWorkbench({ prepare, withExtension: false });
  try {
    const pages = [page, other.page];
    const times = pages.map(() => []);
    for (const [place, each] of pages.entries()) {
      await openFile(each, path.join([workbench, other][place].workspace, 'model.py'), 9);
      await each.keyboard.press('End');
      await each.keyboard.press('Enter');
    }
    await page.locator('.codelens-decoration').first().waitFor(); // what the extension shows in a file is there
    for (let typed = 'v'; typed.length <= KEYS; typed += 'alues '[typed.length % 6]) {
      for (const [place, each] of pages.entries()) times[place].push(await took(each, 'keydown', '.editor-instance .view-line', `${typed}$`, () => each.keyboard.press(typed.at(-1))));
    }
    const [on, off] = times.map((all) => all.sort((a, b) => a - b)[KEYS >> 1]);
    return { 'with the extension': on, 'without it': off, ratio: Number((on / off).toFixed(2)) };
  } finally {
    await other.stop();
  }
}

/** Frames a second while the mouse drags the picture for two seconds. */
async function pan() {
  const counted = drawn('#picture').evaluate(async () => {
    const began = performance.now();
    let frames = 0;
    while (performance.now() - began < 2000) {
      await new Promise(requestAnimationFrame);
      frames++;
    }
    return Math.round((1000 * frames) / (performance.now() - began));
  });
  let over = false;
  void counted.finally(() => (over = true));
  const { x, y, width, height } = await drawn('#picture').boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  for (let step = 0; !over; step++) await page.mouse.move(x + width / 2 + 150 * Math.sin(step / 10), y + height / 2 + 100 * Math.cos(step / 10));
  await page.mouse.up();
  return counted;
}

const results = { nodes: Number(nodes) };
try {
  await page.locator('.activitybar .action-label[aria-label^="Dynascope"]').click();
  await row(page, 'Compiles').waitFor();
  results[`open a run of ${COMPILES} compiles, ms`] = await opening('many.py', `^Compiles${COMPILES}`);
  results['open the list of them, ms'] = await opening(new RegExp(`^Compiles${COMPILES}`), '^\\[0/0\\]');
  await row(page, 'many.py').locator('.monaco-tl-twistie').click();
  await open(page, 'Compiles');
  await open(page, '[0/0]');
  await row(page, /^Graph\d+ node/).hover();
  const began = Date.now();
  await row(page, /^Graph\d+ node/).locator('.action-label[aria-label="Show Graph as Picture"]').click();
  await drawn('.box').first().waitFor();
  results['open, ms'] = Date.now() - began;
  results['boxes'] = await drawn('.box').count();
  results['pan, frames a second'] = await pan();
  await drawn('#picture').evaluate((svg) => {
    const press = (key) => svg.dispatchEvent(new KeyboardEvent('keydown', { key }));
    for (let tries = 0; tries < 20 && svg.querySelectorAll('.box').length < 250; tries++) {
      const folded = svg.querySelector('.box[aria-expanded="false"]');
      if (!folded) break;
      folded.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    }
    press('0');
  });
  results['boxes, unfolded'] = await drawn('.box').count();
  results['pan with them, frames a second'] = await pan();
  await command(page, 'Developer: Show Running Extensions');
  const extension = page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'Dynascope' });
  results['activation'] = await extension.locator('.activation-time').innerText();
  await workbench.screenshot('speed');
  await command(page, 'View: Close All Editors');
  results['typing, ms'] = await typing();
  await workbench.screenshot('speed-typing');
} catch (error) {
  await workbench.screenshot('speed-failed');
  throw error;
} finally {
  console.log(JSON.stringify(results, null, 2));
  await workbench.stop();
}
