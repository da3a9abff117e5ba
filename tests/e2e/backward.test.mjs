// The backward in the real workbench: capture it, step from node to node, go from a node to the forward line.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after, afterEach, before } from 'node:test';
import { command, lineOf, openFile } from './support/editor.mjs';
import { callStack, consoleShows, continueToEnd, evaluate, reset, scopeNames, startDebugging, stoppedAt, stopsBy, toggle } from './support/debugging.mjs';
import { PATIENCE, startWorkbench } from './support/workbench.mjs';

const PROGRAM = 'training.py';
let workbench, page, program;

before(async () => {
  workbench = await startWorkbench();
  ({ page } = workbench);
  program = path.join(workbench.workspace, PROGRAM);
  const configuration = { name: 'backward', type: 'dynascope', request: 'launch', program, console: 'internalConsole', compiledAutograd: 'eager' };
  fs.mkdirSync(path.join(workbench.workspace, '.vscode'), { recursive: true });
  fs.writeFileSync(path.join(workbench.workspace, '.vscode', 'launch.json'), JSON.stringify({ version: '0.2.0', configurations: [configuration] }));
}, { timeout: 180_000 });

after(async () => {
  await workbench?.stop();
});

afterEach(async (t) => {
  await workbench.screenshot(`after ${t.name}`.replace(/[^\w]+/g, '-'));
  await reset(page);
});

/** Add a function breakpoint, as a user does in the Breakpoints view. */
async function breakAt(name) {
  const box = page.locator('.debug-breakpoints .inputBoxContainer input');
  for (let attempt = 1; ; attempt++) {
    await command(page, 'Add Function Breakpoint');
    try {
      await box.waitFor({ timeout: 5_000 });
      break;
    } catch (error) {
      if (attempt === 6) throw error; // a workbench that has just started opens its Breakpoints section without the box
    }
  }
  await box.fill(name);
  await page.keyboard.press('Enter');
  await page.locator('.debug-breakpoints .breakpoint', { hasText: name }).waitFor();
}

/** Wait until the top frame of the call stack is of this node of the backward. */
async function atNode(name) {
  await page.waitForFunction(
    (name) => document.querySelector('.debug-call-stack .monaco-list-row .stack-frame')?.textContent.includes(name),
    name,
    { timeout: PATIENCE },
  );
}

/** Click the frame of that node, and wait for its scopes; the workbench draws the rows below the top one late, and moves them. */
async function select(name) {
  for (let attempt = 1; ; attempt++) {
    await page.locator('.debug-call-stack .stack-frame', { hasText: new RegExp(`^${name}`) }).first().click();
    try {
      await page.locator('.debug-call-stack .monaco-list-row.selected', { hasText: name }).waitFor({ timeout: 5_000 });
      await page.locator('.debug-variables [aria-label="Scope Inputs"]').waitFor({ timeout: 5_000 });
      return;
    } catch (error) {
      if (attempt === 6) throw error;
    }
  }
}

test('step through a backward, and from AddmmBackward0 to the forward line', { timeout: 240_000 }, async () => {
  const [hidden, out, backward] = ['self.hidden(x)', 'return self.out(x)', 'loss.backward()'].map((text) => lineOf(program, text));
  await openFile(page, program, out);
  await breakAt('AddmmBackward0');
  await startDebugging(page);
  await stoppedAt(page, PROGRAM, out); // the node is shown at the line of the forward that made it
  const stack = await callStack(page);
  assert.match(stack[0].name, /^AddmmBackward0 \[!0 NodeCall \d+\]$/);
  assert.deepEqual(stack.slice(1, 4).map((frame) => frame.name.split(' ')[0]), ['PowBackward0', 'MeanBackward0', 'torch::autograd::GraphRoot']);
  assert.ok(stack.some((frame) => frame.name === 'main' && frame.line === backward), JSON.stringify(stack));
  await toggle(page, 'Inputs', false);
  assert.deepEqual(await scopeNames(page), ['Inputs', 'Sizes', 'Scalars', 'Hooks', 'Saved Tensors', 'Forward', 'Graph', 'Compile']);

  // a saved tensor leads to the line of the forward that saved it
  await toggle(page, 'Saved Tensors');
  await workbench.screenshot('backward');
  await evaluate(page, 'gradients[0]', /f32\[3, 1\]/);

  // step from node to node, down to the first layer's
  for (let step = 0; !(await callStack(page))[0].name.startsWith('ReluBackward0'); step++) {
    assert.ok(step < 12, 'no ReluBackward0');
    const before = (await callStack(page))[0].name;
    await page.keyboard.press('F10');
    await page.waitForFunction(
      (before) => {
        const top = document.querySelector('.debug-call-stack .monaco-list-row .stack-frame .label.expression, .debug-call-stack .monaco-list-row .stack-frame .expression');
        return top && top.textContent && top.textContent.replace(/\s+/g, ' ').trim() !== before;
      },
      before,
      { timeout: PATIENCE },
    );
  }

  // the jump: from the frame of a node that was called before, to the line of the forward that made it
  await openFile(page, path.join(workbench.workspace, 'transformer.py'));
  await select('AddmmBackward0');
  await page.waitForSelector(`.tab.active:has-text("${PROGRAM}")`);
  await page.waitForFunction(
    (line) => {
      const lit = document.querySelector('.editor-instance .debug-focused-stack-frame-line');
      const number = [...document.querySelectorAll('.editor-instance .margin-view-overlays .line-numbers')].find((each) => each.textContent === String(line));
      return lit && number && Math.abs(lit.getBoundingClientRect().y - number.getBoundingClientRect().y) < 3;
    },
    out,
    { timeout: PATIENCE },
  );
  await workbench.screenshot('backward-to-forward');

  await stopsBy(page, 'F5', PROGRAM, hidden);
  await atNode('AddmmBackward0');
  await workbench.screenshot('backward-first-layer');
  await continueToEnd(page);
  await command(page, 'Debug Console: Focus on Debug Console View');
  await consoleShows(page, /gradient: \(8, 4\)/);
});
