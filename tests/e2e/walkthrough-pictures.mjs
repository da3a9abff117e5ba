// Take the pictures of the walkthrough, and that of the view of runs in the documentation: `node walkthrough-pictures.mjs`. Needs what run.sh prepares.
import fs from 'node:fs';
import path from 'node:path';
import { breakpointRow, dismissNotifications, reset, startDebugging, stoppedAt, toggle } from './support/debugging.mjs';
import { clickGutter, command, dragBorder, lineOf, openFile } from './support/editor.mjs';
import { inLine, open, row } from './support/runs.mjs';
import { startWorkbench } from './support/workbench.mjs';

const extension = path.join(import.meta.dirname, '../../vscode-extension');
const sample = path.join(extension, 'walkthrough/sample/dynascope_sample.py');
const configuration = { name: 'the sample', type: 'dynascope', request: 'launch', program: '${workspaceFolder}/dynascope_sample.py', console: 'internalConsole' };

const workbench = await startWorkbench({
  viewport: { width: 1000, height: 640 },
  settings: { 'workbench.statusBar.visible': false, 'editor.lightbulb.enabled': 'off', 'editor.inlayHints.enabled': 'off' },
  prepare: (workspace) => {
    fs.copyFileSync(sample, path.join(workspace, path.basename(sample)));
    fs.mkdirSync(path.join(workspace, '.vscode'));
    fs.writeFileSync(path.join(workspace, '.vscode', 'launch.json'), JSON.stringify({ version: '0.2.0', configurations: [configuration] }));
  },
});
const { page, workspace } = workbench;
const file = path.join(workspace, path.basename(sample));
const line = lineOf(file, 'hidden = hidden * gate.sigmoid()');

async function take(name) {
  await page.mouse.move(995, 635);
  await page.locator('.monaco-hover:visible').waitFor({ state: 'hidden' });
  await page.screenshot({ path: path.join(extension, 'images', `walkthrough-${name}.png`) });
}

/** Folds (or unfolds) a view of the debug side bar. */
async function fold(name, isFolded = true) {
  const header = page.locator(`.pane-header[aria-label^="${name}"]`);
  if ((await header.getAttribute('aria-expanded')) === String(isFolded)) await header.click();
}

async function view(name) {
  await page.locator(`.activitybar .action-label[aria-label^="${name}"]`).click();
}

try {
  await openFile(page, file, 1);
  await take('sample');
  await openFile(page, file, line);
  await clickGutter(page, line);
  await take('breakpoint');
  await startDebugging(page);
  await stoppedAt(page, path.basename(file), line);
  await command(page, 'View: Toggle Panel Visibility');
  await fold('Watch');
  await fold('Loaded Scripts');
  await page.locator('.debug-call-stack .stack-frame', { hasText: '<module>' }).waitFor();
  await page.locator('.debug-variables .monaco-list-row', { hasText: 'hidden' }).first().waitFor();
  await take('debug');
  await fold('Breakpoints');
  await fold('Call Stack');
  await toggle(page, 'Locals', false);
  await toggle(page, 'Guards');
  await take('look');
  await fold('Breakpoints', false);
  await fold('Call Stack', false);
  const filter = await breakpointRow(page, 'Graph Breaks');
  await filter.locator('input[type=checkbox]').check();
  await page.keyboard.press('F5');
  await page.locator('.exception-widget').waitFor();
  await page.setViewportSize({ width: 1000, height: 485 }); // what follows in the text names folders of this machine
  await breakpointRow(page, 'Graph Breaks');
  await take('decisions');
  await reset(page);

  await openFile(page, path.join(workspace, 'gate.py'), 1);
  await view('Dynascope');
  await page.setViewportSize({ width: 1400, height: 620 });
  await page.locator('.part.sidebar .action-label[aria-label^="Record Current File"], .part.sidebar .welcome-view a:has-text("Record Current File")').first().click();
  await row(page, /^gate\.py.* · 2 graph breaks, 1 recompile/).waitFor();
  await command(page, 'Terminal: Kill All Terminals');
  await dismissNotifications(page);
  for (const label of ['Graph Breaks', 'Recompiles', 'Compiles', '[0/0]']) await open(page, label);
  await dragBorder(page, '.part.sidebar', { dx: 160 });
  await row(page, 'gate.py:15').click();
  await inLine(page, lineOf(path.join(workspace, 'gate.py'), 'if strength.mean()'));
  await take('runs');
  fs.copyFileSync(path.join(extension, 'images/walkthrough-runs.png'), path.join(extension, '../docs/images/runs.png'));

  await page.setViewportSize({ width: 1000, height: 640 });
  fs.rmSync(path.join(workspace, '.dynascope'), { recursive: true, force: true });
  workbench.configure({ 'dynascope.python': '/nowhere/python' });
  await page.locator('.part.sidebar .welcome-view a', { hasText: 'Choose Interpreter' }).waitFor();
  await take('install');
} finally {
  await workbench.stop();
}
