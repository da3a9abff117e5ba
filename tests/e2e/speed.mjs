// How fast the extension is in the workbench: `node speed.mjs [NODES]` prints milliseconds and frames a second.
// Not a part of the suite: times depend on the machine. Needs what run.sh prepares.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { command } from './support/editor.mjs';
import { drawn as drawnIn, open, row } from './support/runs.mjs';
import { PYTHON, startWorkbench } from './support/workbench.mjs';

const nodes = process.argv[2] ?? '20000';
const root = path.join(import.meta.dirname, '../..');
const prepare = (workspace) => execFileSync(PYTHON, ['-m', 'tests.bench.large_graph', workspace, nodes], { cwd: root });
const workbench = await startWorkbench({ prepare });
const { page } = workbench;
const drawn = (which) => drawnIn(page, which);

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
  await open(page, 'Compiles');
  await open(page, '[0/0]');
  await row(page, /^Graph\d+ node/).hover();
  const began = Date.now();
  await row(page, /^Graph\d+ node/).locator('.action-label[aria-label="Show as Picture"]').click();
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
} finally {
  console.log(JSON.stringify(results, null, 2));
  await workbench.stop();
}
