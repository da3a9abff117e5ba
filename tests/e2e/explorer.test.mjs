// The view of runs in the real VS Code workbench: from an empty folder to the line of a graph break, with clicks only.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { command, dragBorder, lineOf, openFile } from './support/editor.mjs';
import { startWorkbench } from './support/workbench.mjs';

const NAME = 'gate.py';
let workbench, page, file;

before(async () => {
  workbench = await startWorkbench();
  ({ page } = workbench);
  file = path.join(workbench.workspace, NAME);
}, { timeout: 180_000 });

after(async () => {
  await workbench?.stop();
});

/** The first row whose text begins with a label, or is as told; `which` narrows the rows down. */
function row(text, which = '') {
  const wanted = text instanceof RegExp ? text : new RegExp(`^${text.replace(/[[\]]/g, '\\$&')}`);
  return page.locator(`.part.sidebar .monaco-list-row${which}`, { hasText: wanted }).first();
}

/** Open a row; again where a refresh of the view has swallowed the click. */
async function open(text) {
  for (let attempt = 1; ; attempt++) {
    try {
      await row(text, '[aria-expanded="false"]').locator('.monaco-tl-twistie').click({ timeout: 5_000 });
      return await row(text, '[aria-expanded="true"]').waitFor({ timeout: 5_000 });
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

/** Click an action of the run's row; from elsewhere, for the tooltip of what the mouse was on covers the row. */
async function act(label) {
  await page.mouse.move(900, 700);
  await page.locator('.monaco-hover:visible').waitFor({ state: 'hidden' });
  await row(NAME).hover();
  await row(NAME).locator(`.action-label[aria-label="${label}"]`).click();
}

/** The number of the line that the cursor is in, as the status bar has it. */
async function atLine(line) {
  await page.locator('.statusbar-item', { hasText: new RegExp(`^Ln ${line},`) }).waitFor();
}

/** The page of the timeline, and what is drawn in it. */
function timeline() {
  return page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
}

function bars(which) {
  return timeline().locator(which);
}

/** Wait until a line is the active one of an editor, which need not have the focus. */
async function inLine(line) {
  await page.locator('.line-numbers.active-line-number', { hasText: new RegExp(`^${line}$`) }).waitFor();
}

test('from an empty folder to the line of a break, also after a window reload', { timeout: 300_000 }, async (t) => {
  await t.test('the empty view says what to do, and does it', async () => {
    await openFile(page, file, 1);
    await page.locator('.activitybar .action-label[aria-label^="Dynascope"]').click();
    const record = page.locator('.part.sidebar .welcome-view a', { hasText: 'Record This File' });
    await record.waitFor();
    await workbench.screenshot('runs-empty');
    await record.click();
    await page.locator('.activitybar .action-label[aria-label^="Explorer"]').click(); // the program has torch to import yet
    await page.locator('.part.sidebar .explorer-folders-view').waitFor();
    await page.mouse.move(900, 300); // off what has a tooltip
  });

  await t.test('what was recorded is shown by itself: the run, and below it what went wrong', async () => {
    await row(/^gate\.py\S+ · 2 graph breaks, 1 recompile/).waitFor(); // and not "running"
    for (const section of ['Graph Breaks', 'Recompiles', 'Compiles']) await row(section).waitFor();
  });

  await t.test('two clicks from the run to the line of the break', async () => {
    await open('Graph Breaks');
    await row('Data-dependent').click();
    await atLine(lineOf(file, 'if strength.mean()'));
  });

  await t.test('the cause of a recompile with its values', async () => {
    await open('Recompiles');
    assert.match(await row(/met x/).innerText(), /f32\[/);
    await open('Compiles');
    await open('[0/0]');
    await row('Guards').waitFor();
    await page.keyboard.press('Control+j'); // close the panel
    await dragBorder(page, '.part.sidebar', { dx: 170 });
    await page.mouse.move(900, 700); // off the border
    await page.locator('.part.panel').waitFor({ state: 'hidden' });
    await workbench.screenshot('runs');
  });

  await t.test('the graph of a compile, and from a node to its line', async () => {
    await row(/^Graph\d+ node/).click();
    await page.locator('.tab', { hasText: /Gate\.forward \[0-0\] graph\.py/ }).waitFor();
    await page.locator('.view-line .detected-link', { hasText: `${NAME}:` }).first().waitFor();
    await page.locator('.view-line', { hasText: /mean\s=/ }).click();
    await workbench.screenshot('graph');
    await page.keyboard.press('F12');
    await page.locator('.tab.active', { hasText: NAME }).waitFor();
    await atLine(lineOf(file, 'strength.mean()'));
  });

  await t.test('the picture of the graph: a box unfolds, a node leads to its line', async () => {
    await row(/^Graph\d+ node/).hover();
    await row(/^Graph\d+ node/).locator('.action-label[aria-label="Show as Picture"]').click();
    const picture = page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
    await picture.locator('.box.node', { hasText: 'strength' }).waitFor();
    await workbench.screenshot('picture');
    await picture.locator('.box.unfolded .title', { hasText: 'gate.py:15' }).click();
    await picture.locator('.box.line[aria-expanded="false"]', { hasText: 'gate.py:15' }).click();
    await picture.locator('.box.node', { hasText: 'strength' }).click();
    await inLine(lineOf(file, 'strength = gate')); // the picture keeps the focus: the status bar has no line
    await picture.locator('#save').click();
    await page.locator('.quick-input-widget:visible', { hasText: 'OK' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.notification-toast', { hasText: 'The picture is saved as' }).waitFor();
    const saved = fs.readFileSync(path.join(workbench.workspace, 'Gate.forward [0-0] graph.svg'), 'utf8');
    assert.match(saved, /^<svg xmlns[^]*>strength<[^]*<\/svg>\n$/);
    assert.doesNotMatch(saved, /var\(/); // the theme's colours, for programs that have none
    await command(page, 'View: Close All Editors');
  });

  await t.test('the timeline of the run: its compiles, a line, and a Chrome trace', async () => {
    await act('Show Timeline');
    await bars('.bar.compile').nth(2).waitFor();
    await command(page, 'Notifications: Clear All Notifications');
    await bars('.bar.mark.graph-break').first().waitFor();
    await workbench.screenshot('run-timeline');
    await bars('.bar.mark.graph-break').first().click();
    await inLine(lineOf(file, 'if strength.mean()'));
    await timeline().locator('#save').click();
    await page.locator('.quick-input-widget:visible', { hasText: 'OK' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.notification-toast', { hasText: 'The trace is saved' }).waitFor();
    const saved = fs.readdirSync(workbench.workspace).find((name) => name.startsWith('Timeline of gate.py'));
    assert.ok(JSON.parse(fs.readFileSync(path.join(workbench.workspace, saved), 'utf8')).traceEvents.some(({ name }) => name === 'backend_compile'));
    await command(page, 'View: Close All Editors');
  });

  await t.test('the same after a window reload', async () => {
    await page.reload();
    await open('Compiles');
    await row('[0/0]').click();
    await atLine(lineOf(file, 'def forward'));
    await open('Graph Breaks');
    await row('Data-dependent').click();
    await atLine(lineOf(file, 'if strength.mean()'));
    await command(page, 'Preferences: Toggle between Light/Dark Themes');
    await page.locator('.monaco-workbench.vs-dark').waitFor();
    await workbench.screenshot('runs-dark');
  });

  await t.test('the report of the run', async () => {
    await act('Open Report');
    await page.locator('.tab', { hasText: 'Dynascope Report' }).waitFor();
  });

  await t.test('what was recorded is deleted when the user says so', async () => {
    await act('Delete This Run');
    await page.locator('.monaco-dialog-box .monaco-button', { hasText: 'Delete' }).click();
    await page.locator('.part.sidebar .welcome-view a', { hasText: 'Record This File' }).waitFor();
  });
});
