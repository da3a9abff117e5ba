// What Dynamo decided, on the source lines of the real VS Code workbench, after one recorded run.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { EDITOR_HOVER, command, hover, lineOf, openFile, squiggledLines, visibleLine } from './support/editor.mjs';
import { reset, sessionOver, stoppedAt } from './support/debugging.mjs';
import { PATIENCE, PYTHON, startWorkbench } from './support/workbench.mjs';

const NAME = 'gate.py';
let workbench, page, file, breaking;

before(async () => {
  const prepare = (cwd) => execFileSync(PYTHON, ['-m', 'dynascope', 'run', NAME], { cwd, stdio: ['ignore', 'ignore', 'inherit'], timeout: PATIENCE });
  workbench = await startWorkbench({ prepare });
  ({ page } = workbench);
  file = path.join(workbench.workspace, NAME);
  breaking = lineOf(file, 'if strength.mean()');
}, { timeout: 180_000 });

after(async () => {
  await workbench?.stop();
});

/** Try until it holds; the last failure is the test's. */
async function eventually(check) {
  for (const deadline = Date.now() + 30_000; ; ) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** The text that a decoration writes after the line that begins so, or `none`. */
async function timeAfter(page, beginning) {
  const line = page.locator('.view-line', { hasText: new RegExp(`^\\s*${beginning}`) }).first();
  return line.evaluate((each) => {
    const texts = [...each.querySelectorAll('span')].map((span) => getComputedStyle(span, '::after').content);
    return texts.find((text) => / m?s/.test(text)) ?? 'none';
  });
}

test('facts on the lines: squiggle, Problems row, hover, inlay hints, lens, quick fix', { timeout: 240_000 }, async (t) => {
  await openFile(page, file, breaking);
  await page.mouse.move(900, 700); // off whatever has a tooltip

  await t.test('a squiggle under the line that breaks the graph', () => eventually(async () => {
    assert.deepEqual(await squiggledLines(page, 'warning'), [breaking]);
  }));

  await t.test('the shape after each assignment and parameter', () => eventually(async () => {
    assert.match(await visibleLine(page, 'mixed'), /^mixed: f32\[\w+, 8\], gate: f32\[\w+, 8\] = /);
    assert.match(await visibleLine(page, 'def forward'), /x: f32\[\w+, 8\]/);
  }));

  await t.test('a lens above the compiled function', () => eventually(async () => {
    const lenses = await page.locator('.codelens-decoration a').allInnerTexts();
    assert.ok(lenses.some((text) => /\d graphs, 1 graph break, 1 recompile, [\d.]+ m?s/.test(text)), lenses.join(' | '));
    assert.ok(lenses.includes('Debug its compile'), lenses.join(' | '));
  }));
  await workbench.screenshot('facts');

  await t.test('Show or Hide Tracing Times writes the time Dynamo took after each line, and colours it', async () => {
    await command(page, 'Dynascope: Show or Hide Tracing Times');
    await eventually(async () => assert.match(await timeAfter(page, 'mixed'), /\d ms/));
    await workbench.screenshot('compile-times');
    await command(page, 'Dynascope: Show or Hide Tracing Times');
    await eventually(async () => assert.equal(await timeAfter(page, 'mixed'), 'none'));
  });

  await t.test('a hover with every shape of a local', async () => {
    const widget = await hover(page, 'gate.sigmoid()', 'strength', EDITOR_HOVER);
    assert.match(await widget.innerText(), /f32\[2, 8\]/);
    await widget.evaluate((each) => Promise.all(each.getAnimations().map((animation) => animation.finished)));
    await workbench.screenshot('facts-hover');
    await page.keyboard.press('Escape');
  });

  await t.test('a row in Problems, its code a link to the page about this break', async () => {
    await page.keyboard.press('Control+Shift+M');
    const row = page.locator('.markers-panel .monaco-list-row', { hasText: /GB\d{4}/ }).first();
    await row.waitFor();
    assert.match(await row.innerText(), new RegExp(`Ln ${breaking},`));
    assert.match(await row.locator('a', { hasText: /^GB\d{4}$/ }).getAttribute('href'), /gb\d{4}\.html$/);
    await workbench.screenshot('facts-problems');
    await page.keyboard.press('Control+j'); // close the panel
  });

  await t.test('a quick fix that rewrites the branch', async () => {
    await openFile(page, file, breaking);
    await page.keyboard.press('Control+.');
    const first = page.locator('.action-widget:visible .monaco-list-row.action.focused', { hasText: 'torch.cond' });
    await first.waitFor();
    const offered = await page.locator('.action-widget:visible .monaco-list-row.action').allInnerTexts();
    assert.ok(offered.some((text) => text.includes('Debug this graph break')), offered.join(' | '));
    await workbench.screenshot('facts-quick-fix');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.match(await visibleLine(page, 'strength = torch'), /torch\.cond\(strength\.mean\(\) > 0\.5, /));
    await workbench.screenshot('facts-fixed');
    await page.keyboard.press('Control+z');
    await eventually(async () => assert.match(await visibleLine(page, 'if strength'), /mean\(\) > 0\.5/));
  });

  await t.test('the lens with the sums opens the report', async () => {
    await page.locator('.codelens-decoration a', { hasText: '1 graph break' }).first().click();
    await page.locator('.tab', { hasText: 'Dynascope Report' }).waitFor();
    const texts = () => Promise.all(page.frames().map((frame) => frame.locator('body').innerText({ timeout: 1_000 }).catch(() => '')));
    await eventually(async () => assert.ok((await texts()).some((text) => text.includes('Slowest lines to trace') && text.includes(NAME))));
    await workbench.screenshot('facts-report');
    await openFile(page, file);
  });

  await t.test('the lens debugs the compile of its function', async () => {
    await page.locator('.codelens-decoration a', { hasText: 'Debug its compile' }).first().click();
    await stoppedAt(page, NAME, lineOf(file, 'self.project(x)'));
    await workbench.screenshot('facts-debug');
    await page.keyboard.press('Shift+F5');
    await sessionOver(page);
    await reset(page);
  });

  await t.test('a quick fix debugs the break', async () => {
    await openFile(page, file, breaking);
    await eventually(async () => { // the menu that opens before the diagnostics are back after the session lacks it
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+.');
      await page.locator('.action-widget:visible .monaco-list-row.action', { hasText: 'Debug this graph break' }).waitFor({ timeout: 5_000 });
    });
    const chosen = page.locator('.action-widget:visible .monaco-list-row.action.focused', { hasText: 'Debug this graph break' });
    await eventually(async () => {
      if (await chosen.count()) return;
      await page.keyboard.press('ArrowDown');
      throw new Error('another action has the focus');
    });
    await page.keyboard.press('Enter');
    await stoppedAt(page, NAME, breaking);
    await page.keyboard.press('Shift+F5');
    await sessionOver(page);
    await reset(page);
  });
});
