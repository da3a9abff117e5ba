// The view of runs in the real VS Code workbench: from an empty folder to the line of a graph break, with clicks only.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { hardToRead } from './support/contrast.mjs';
import { command, dragBorder, lineOf, openFile, typeCommand } from './support/editor.mjs';
import * as runs from './support/runs.mjs';
import { reloadWhenStored, startWorkbench } from './support/workbench.mjs';

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

const row = (text, which) => runs.row(page, text, which);
const open = (text) => runs.open(page, text);
const act = (label) => runs.act(page, NAME, label);
const inLine = (line) => runs.inLine(page, line);
const drawn = (which) => runs.drawn(page, which);

async function showPicture() {
  await row(/^Graph\d+ node/).hover();
  await row(/^Graph\d+ node/).locator('.action-label[aria-label="Show Graph as Picture"]').click();
}

/** The number of the line that the cursor is in, as the status bar has it. */
async function atLine(line) {
  await page.locator('.statusbar-item', { hasText: new RegExp(`^Ln ${line},`) }).waitFor();
}

/** With the keyboard alone: go to a row of the view, and press a key there. */
async function reach(label, key) {
  await typeCommand(page, 'Dynascope: Focus on Runs View');
  const focused = page.locator('.part.sidebar .monaco-list-row.focused');
  const place = () => focused.getAttribute('data-index');
  await page.keyboard.press('Home');
  for (let rows = 0; !label.test((await focused.textContent()).trim()); rows++) {
    assert.ok(rows < 600, `no row ${label}`); // rows below one that has just been unfolded come later
    const before = await place();
    await page.keyboard.press('ArrowDown');
    if ((await place()) === before) await page.keyboard.press('Home');
  }
  await page.keyboard.press(key);
}

function tab(title) {
  return page.locator('.tab', { hasText: title });
}

test('the package has the license, what has changed, pictures and the wheel, and no source', () => {
  const folder = path.join(workbench.installed, fs.readdirSync(workbench.installed).find((name) => name.startsWith('dynascope.dynascope-')));
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const names = files.map(({ parentPath, path: older, name }) => path.relative(folder, path.join(parentPath ?? older, name)));
  const pictures = names.filter((name) => /^images\/.*\.(png|svg)$/.test(name));
  assert.ok(['images/activity.svg', 'images/icon.png', 'images/walkthrough-runs.png'].every((name) => pictures.includes(name)), pictures.join());
  const others = names.filter((name) => !pictures.includes(name) && !/^walkthrough\/(\w+\.md|sample\/\w+\.py)$/.test(name));
  // license and changelog get their names, and the manifest beside package.json is made, when the package is built and installed
  const { version } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  assert.notEqual(version, '0.0.0', 'the package has the version of the Python package');
  const wanted = ['.vsixmanifest', 'LICENSE.txt', 'changelog.md', ...['adapterProcess', 'extension', 'graph', 'languageClient', 'runTimeline'].map((name) => `dist/${name}.js`), 'l10n/bundle.l10n.json', 'package.json', 'package.nls.json', 'readme.md', `wheel/dynascope-${version}-py3-none-any.whl`];
  assert.deepEqual(others.sort(), wanted);
});

/** A program that waits to be killed, with a guard that will not hold. */
const WAITS = `import os, time, torch

class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 2

    def forward(self, x):
        self.step += 1
        return x * self.step

open("process", "w").write(str(os.getpid()))
torch.compile(Counter(), backend="eager")(torch.ones(3))
time.sleep(600)
`;

test('from an empty folder to the line of a break, also after a window reload', { timeout: 300_000 }, async (t) => {
  await t.test('the empty view says what to do, and does it', async () => {
    await openFile(page, file, 1);
    await page.locator('.activitybar .action-label[aria-label^="Dynascope"]').click();
    const record = page.locator('.part.sidebar .welcome-view a', { hasText: 'Record Current File' });
    await record.waitFor();
    await workbench.screenshot('runs-empty');
    await record.click();
    await page.locator('.activitybar .action-label[aria-label^="Explorer"]').click(); // the program has torch to import yet
    await page.locator('.part.sidebar .explorer-folders-view').waitFor();
    await page.mouse.move(900, 300); // off what has a tooltip
  });

  await t.test('what was recorded is shown by itself: the run, and below it what went wrong', async () => {
    await row(/^gate\.py.* · 2 graph breaks, 1 recompile/).waitFor(); // and not "running"
    for (const section of ['Graph Breaks', 'Recompiles', 'Compiles']) await row(section).waitFor();
  });

  await t.test('two clicks from the run to the line of the break', async () => {
    await open('Graph Breaks');
    await row('gate.py:15').click();
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
    await showPicture();
    await drawn('.box.node:has-text("strength")').waitFor();
    await workbench.screenshot('picture');
    await drawn('.box.unfolded .title:has-text("gate.py:15")').click();
    await drawn('.box.line[aria-expanded="false"]:has-text("gate.py:15")').click();
    await drawn('.box.node:has-text("strength")').click();
    await inLine(lineOf(file, 'strength = gate')); // the picture keeps the focus: the status bar has no line
    await drawn('#save').click();
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
    await drawn('.bar.compile').nth(2).waitFor();
    await command(page, 'Notifications: Clear All Notifications');
    await drawn('.bar.mark.graph-break').first().waitFor();
    await workbench.screenshot('run-timeline');
    await drawn('.bar.mark.graph-break').first().click();
    await inLine(lineOf(file, 'if strength.mean()'));
    await drawn('#save').click();
    await page.locator('.quick-input-widget:visible', { hasText: 'OK' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.notification-toast', { hasText: 'The trace is saved' }).waitFor();
    const saved = fs.readdirSync(workbench.workspace).find((name) => name.startsWith('Timeline of gate.py'));
    assert.ok(JSON.parse(fs.readFileSync(path.join(workbench.workspace, saved), 'utf8')).traceEvents.some(({ name }) => name === 'backend_compile'));
  });

  await t.test('the timeline and the picture come back after a window reload', async () => {
    await showPicture();
    await runs.drawnInOne(page, '.box.node:has-text("strength")');
    await reloadWhenStored(page, 'graph:', /dynascope\.runTimeline(?:(?!viewType).)*state\W+key/); // without its state a panel is not restored
    await runs.drawnInOne(page, '.box.node:has-text("strength")');
    await (await runs.drawnInOne(page, '.bar.mark.graph-break')).click();
    await inLine(lineOf(file, 'if strength.mean()'));
    await command(page, 'View: Close All Editors');
  });

  await t.test('the same in the view', async () => {
    await open('Compiles');
    await row('[0/0]').click();
    await atLine(lineOf(file, 'def forward'));
    await open('Graph Breaks');
    await row('gate.py:15').click();
    await atLine(lineOf(file, 'if strength.mean()'));
    await command(page, 'Preferences: Toggle between Light/Dark Themes');
    await page.locator('.monaco-workbench.vs-dark').waitFor();
    await workbench.screenshot('runs-dark');
  });

  await t.test('with the keyboard alone: a break, the cause of a recompile, the graph and its picture, generated code, the slowest phase', async () => {
    await command(page, 'View: Close All Editors');
    await page.mouse.move(900, 700);
    await reach(/^Graph Breaks/, 'ArrowRight');
    await reach(/^gate\.py:15 +Data-dependent/, 'Enter');
    await inLine(lineOf(file, 'if strength.mean()'));
    await reach(/^Recompiles/, 'ArrowRight');
    await reach(/met x/, 'Enter');
    await inLine(lineOf(file, 'def forward'));
    await reach(/^\[0\/0\]/, 'ArrowRight');
    await reach(/^Graph\d+ node/, 'Enter');
    await tab(/Gate\.forward \[0-0\] graph\.py/).waitFor();
    await typeCommand(page, 'Dynascope: Show Graph as Picture');
    await drawn('.box').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('strength');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await drawn('.box.selected:has-text("strength")').waitFor();
    await page.keyboard.press('ArrowUp');
    await drawn('.box.selected:has-text("gate")').waitFor();
    await page.keyboard.press('ArrowDown');
    await drawn('.box.selected:has-text("strength")').waitFor();
    await page.keyboard.press('o');
    await inLine(lineOf(file, 'strength = gate'));
    await drawn('#picture').press('ArrowUp');
    await drawn('.box.selected:has-text("strength")').waitFor({ state: 'hidden' });
    await typeCommand(page, 'View: Focus First Editor Group');
    await typeCommand(page, 'Dynascope: Show Line in Graph Picture'); // and back, from the line to its node
    await drawn('.box.selected:has-text("strength")').waitFor();
    await drawn('#details:has-text("1 node is from gate.py:14")').waitFor();
    await command(page, 'View: Close All Editors');
    await reach(/^Graph\d+ node/, 'Enter');
    await typeCommand(page, 'Dynascope: Compare with Another Graph');
    await page.locator('.quick-input-widget:visible .monaco-list-row.focused', { hasText: '[0/1]' }).waitFor();
    await page.keyboard.press('Enter');
    const pages = page.locator('iframe.webview.ready:visible');
    for (const number of [0, 1]) await pages.nth(number).contentFrame().frameLocator('#active-frame').locator('.box.node.differs').first().waitFor();
    await workbench.screenshot('graphs-compared');
    await reach(/^Generated Code/, 'Enter');
    await tab(/Gate\.forward \[0-0\] generated bytecode/).waitFor();
    await reach(/^Where the Time Went/, 'ArrowRight');
    await reach(/ m?s \(.* of its own\)/, 'Enter'); // the longest first
  });

  await t.test('the report of the run', async () => {
    await act('Open Report');
    await page.locator('.tab', { hasText: 'Dynascope Report' }).waitFor();
  });

  await t.test('the texts of the report, the timeline and the picture can be read in themes that are light, dark and of high contrast', async () => {
    const shown = [
      ['contrast-report', () => act('Open Report'), 'h2:has-text("Slowest lines")'],
      ['contrast-timeline', () => act('Show Timeline'), '.bar.compile'],
      ['contrast-graph', showPicture, '.box.node'],
    ];
    for (const [name, show, first] of shown) {
      await command(page, 'View: Close All Editors');
      await show();
      await drawn(first).first().waitFor();
      assert.deepEqual(await hardToRead(workbench, name), []);
    }
  });

  await t.test('what was recorded is deleted when the user says so', async () => {
    await act('Delete This Run');
    await page.locator('.monaco-dialog-box .monaco-button', { hasText: 'Delete' }).click();
    await page.locator('.part.sidebar .welcome-view a', { hasText: 'Record Current File' }).waitFor();
  });
});

test('a guard that will not hold, in a run that is killed: the view says so without a refresh', { timeout: 180_000 }, async () => {
  const waits = path.join(workbench.workspace, 'waits.py');
  fs.writeFileSync(waits, WAITS);
  await openFile(page, waits, 1);
  await command(page, 'Dynascope: Record Current File');
  await row(/^waits\.py.* running/).waitFor();
  await open('Compiles');
  await open('[0/0] Counter.forward');
  await row(/self\.step will not be 2/).click();
  await inLine(lineOf(waits, 'self.step += 1'));
  process.kill(Number(fs.readFileSync(path.join(workbench.workspace, 'process'), 'utf8')), 'SIGKILL');
  await row(/^waits\.py.* ended early/).waitFor();
  await workbench.screenshot('runs-killed');
});
