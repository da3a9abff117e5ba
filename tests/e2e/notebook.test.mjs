// A notebook in the real JupyterLab: record a cell, stop in a cell's function, look, go on, interrupt, restart.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test, { after, afterEach, before } from 'node:test';
import { run, startJupyter, wasRun } from './support/jupyter.mjs';
import { end, PATIENCE, PYTHON } from './support/workbench.mjs';

const LOAD = 0;
const RECORD = 1;
const ATTACH = 2;
const CALL = 3;
const LOOP = 4;
const ALIVE = 5;
const CELLS = [
  'import torch\n%load_ext dynascope\nprint("loaded")',
  '%%dynascope\n@torch.compile(backend="eager")\ndef f(x):\n    y = x + 1\n    if y.sum() > 0:\n        return y * 2\n    return y\n\nf(torch.ones(3)), f(torch.ones(4))',
  '%dynascope attach',
  'import dynascope\ndynascope.wait_for_client()\ntorch._dynamo.reset()\nprint("gives", f(torch.ones(5)).sum().item())',
  'print("begins")\nwhile True:\n    pass',
  'print("alive", 40 + 2)',
];

let jupyter, page;

before(async () => {
  jupyter = await startJupyter(CELLS);
  ({ page } = jupyter);
}, { timeout: 180_000 });

after(async () => {
  await jupyter?.stop();
});

afterEach(async (t) => {
  await jupyter?.screenshot(`notebook after ${t.name}`.replace(/[^\w]+/g, '-'));
});

async function shows(output, text) {
  await output.filter({ hasText: text }).waitFor({ timeout: PATIENCE });
}

/** A prompt at the kernel: what is typed at it, and a promise of what it prints. */
function promptAt(port) {
  const child = spawn(PYTHON, ['-m', 'dynascope', 'debug', '-b', 'f', '--connect', `127.0.0.1:${port}`], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += data));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  return {
    child,
    ended,
    type: (line) => child.stdin.write(`${line}\n`),
    async prints(text) {
      const deadline = Date.now() + PATIENCE;
      while (!text.test(printed)) {
        if (Date.now() > deadline || child.exitCode !== null) throw new Error(`${text} is not in what the prompt printed:\n${printed}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const found = printed;
      printed = '';
      return found;
    },
  };
}

/** Let a debugger attach, stop it in `f`, and run the cell that calls it. */
async function stopInCell() {
  const output = await run(page, ATTACH);
  await shows(output, 'debug --connect');
  const port = /--connect 127\.0\.0\.1:(\d+)/.exec(await output.innerText())[1];
  const prompt = promptAt(port);
  prompt.type('locals'); // what is read first is asked at the first stop
  const called = await run(page, CALL);
  return { prompt, called };
}

test('a cell is recorded, its lines are marked, and the report is below it', async () => {
  await shows(await run(page, LOAD), 'loaded');
  const output = await run(page, RECORD);
  // The kernel sends the summary and the marked lines in messages of their own.
  for (const part of ['In [2]:5', 'Recompiled because of x.size()[0]', '◂ Graph break']) await shows(output, part);
  assert.equal((await output.locator('.jp-OutputPrompt', { hasText: '[' }).first().innerText()).trim(), '[2]:');
  await output.locator('summary', { hasText: 'Report' }).click();
  await output.locator('details[open]').waitFor();
});

test('a breakpoint stops while Dynamo traces the function of a cell; one looks, and goes on', { timeout: 2 * PATIENCE }, async () => {
  const { prompt, called } = await stopInCell();
  try {
    const stopped = await prompt.prints(/f32\[5\]/);
    assert.match(stopped, /compile time {2}f \[0\/0\] {2}In \[2\]:4/);
    assert.match(stopped, /-> 4 +y = x \+ 1/);
    prompt.type('continue');
    await shows(called, 'gives 20');
  } finally {
    await end(prompt.child);
  }
});

test('Interrupt ends a cell that runs, beside a debugger that was there', async () => {
  const output = await run(page, LOOP);
  await shows(output, 'begins');
  await page.locator('[data-command="notebook:interrupt-kernel"], jp-button[data-command="notebook:interrupt-kernel"]').first().click();
  await shows(output, 'KeyboardInterrupt');
  await shows(await run(page, ALIVE), 'alive 42');
});

test('Restart ends a stop and its prompt, and the notebook begins anew', { timeout: 2 * PATIENCE }, async () => {
  const { prompt } = await stopInCell();
  try {
    await prompt.prints(/f32\[5\]/);
    await page.locator('[data-command="notebook:restart-kernel"]').first().click();
    await page.locator('.jp-Dialog button.jp-mod-accept').click();
    prompt.type('where');
    prompt.child.stdin.end();
    await prompt.ended;
    await jupyter.connected();
    for (const [index, cell] of [ALIVE, LOAD].entries()) {
      await run(page, cell);
      await wasRun(page, cell, index + 1);
    }
    await shows(await run(page, RECORD), 'In [3]:5');
  } finally {
    await end(prompt.child);
  }
});
