// A job of four ranks in the real VS Code workbench: one view of where they are, and the line where one parts from the others.
import fs from 'node:fs';
import path from 'node:path';
import test, { after, afterEach, before } from 'node:test';
import { clickGutter, command, lineOf, openFile } from './support/editor.mjs';
import { reset, startDebugging } from './support/debugging.mjs';
import { PATIENCE, startWorkbench } from './support/workbench.mjs';

let workbench, page;

before(async () => {
  const prepare = (workspace) => {
    const args = ['--standalone', '--nproc-per-node=4', 'parting.py'];
    const job = { name: 'the job', type: 'dynascope', request: 'launch', module: 'torch.distributed.run', args, cwd: workspace, console: 'internalConsole', exceptionFilters: [{ filterId: 'divergence' }] };
    fs.mkdirSync(path.join(workspace, '.vscode'));
    fs.writeFileSync(path.join(workspace, '.vscode', 'launch.json'), JSON.stringify({ version: '0.2.0', configurations: [job] }));
  };
  workbench = await startWorkbench({ prepare, settings: { 'editor.inlayHints.enabled': 'off', 'editor.codeLens': false }, viewport: { width: 1400, height: 1100 } });
  ({ page } = workbench);
}, { timeout: 180_000 });

after(async () => {
  await workbench?.stop();
});

afterEach(async (t) => {
  await workbench.screenshot(`after ${t.name}`.replace(/[^\w]+/g, '-'));
});

/** A row of the view Ranks, once it is there: four processes import torch under a debugger before. */
async function rankRow(label, place) {
  const view = page.locator('.pane', { has: page.locator('.pane-header[aria-label^="Ranks"]') });
  const row = view.locator('.monaco-list-row', { hasText: new RegExp(`^\\s*${label}\\s*${place}`) }).first();
  await row.waitFor({ timeout: 3 * PATIENCE });
  return row;
}

test('ranks that stop at one line are one row, step together, and are seen to part', { timeout: 600_000 }, async () => {
  const file = path.join(workbench.workspace, 'parting.py');
  const [line, called, left] = ['if sync:', 'dist.all_reduce(y)', 'return y + 1'].map((text) => lineOf(file, text));
  await openFile(page, file, line);
  await clickGutter(page, line);
  await startDebugging(page);
  for (const name of ['Variables', 'Watch', 'Loaded Scripts']) {
    const header = page.locator(`.pane-header[aria-label^="${name}"]`);
    if ((await header.getAttribute('aria-expanded')) === 'true') await header.click();
  }
  const all = await rankRow('ranks 0-3', `parting\\.py:${line}`);
  await workbench.screenshot('ranks-together');
  await all.hover();
  await all.locator('.action-label[aria-label^="Step Over in Ranks"]').click();
  await rankRow('ranks 0, 1, 3', `parting\\.py:${called}`);
  await rankRow('rank 2', `parting\\.py:${left}`);
  await workbench.screenshot('ranks-part');
  const others = await rankRow('ranks 0, 1, 3', `parting\\.py:${called}`);
  await others.hover();
  await others.locator('.action-label[aria-label^="Continue Ranks"]').click();
  await rankRow('ranks 0, 1, 3', 'running');
  await rankRow('rank 2', `parting\\.py:${left}`); // it has stayed
  await command(page, 'Dynascope: Continue Ranks');
  await page.locator('.exception-widget', { hasText: /parts? from rank/ }).waitFor({ timeout: PATIENCE });
  await workbench.screenshot('ranks-told');
  await reset(page);
});
