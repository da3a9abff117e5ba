// The main job as a user does it: the real VS Code workbench, a mouse and a keyboard.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import test, { after, afterEach, before } from 'node:test';
import { breakpointLines, choose, clickGutter, command, dragBorder, goToLine, hover, lineOf, openFile } from './support/editor.mjs';
import {
  callStack,
  consoleShows,
  continueToEnd,
  dismissNotifications,
  evaluate,
  leaveBy,
  notifications,
  reset,
  scopeNames,
  sessionOver,
  startDebugging,
  stoppedAt,
  stopsBy,
  terminalShows,
  toggle,
  variable,
  variableRow,
} from './support/debugging.mjs';
import { end, PYTHON, startWorkbench } from './support/workbench.mjs';

const MODEL = 'transformer.py';
let workbench, page, model;

before(async () => {
  // sessions record, and what the language server then puts between the lines is language-server.test.mjs's
  workbench = await startWorkbench({ settings: { 'editor.inlayHints.enabled': 'off', 'editor.codeLens': false } });
  ({ page } = workbench);
  model = path.join(workbench.workspace, MODEL);
}, { timeout: 180_000 });

after(async () => {
  await workbench?.stop();
});

afterEach(async (t) => {
  await workbench.screenshot(`after ${t.name}`.replace(/[^\w]+/g, '-'));
  await reset(page);
});

/** Write launch.json; without configurations, remove it. */
function launchJson(...configurations) {
  const folder = path.join(workbench.workspace, '.vscode');
  fs.rmSync(folder, { recursive: true, force: true });
  if (configurations.length === 0) return;
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'launch.json'), JSON.stringify({ version: '0.2.0', configurations }));
}

/** Start a configuration of launch.json by its name. */
async function start(name) {
  const row = page.locator('.quick-input-widget:visible .monaco-list-row', { hasText: name }).first();
  for (let attempt = 1; ; attempt++) {
    await command(page, 'Debug: Select and Start Debugging');
    try {
      await row.click({ timeout: 3_000 });
      return;
    } catch (error) {
      if (attempt === 10) throw error; // the list is made when it opens: the workbench had not seen the new launch.json
      await page.keyboard.press('Escape');
    }
  }
}

/** Set a breakpoint by a click, in the model or another file, and debug the program up to it. */
async function stopAt(line, file = model) {
  await openFile(page, file, line);
  await clickGutter(page, line);
  await startDebugging(page);
  await stoppedAt(page, path.basename(file), line);
}

/** Wait until this is the innermost frame. */
async function frameIs(name) {
  await until(async () => (await callStack(page))[0]?.name === name, () => `not stopped in ${name}`);
}

/** Remove that breakpoint, and let the program run to its end. */
async function goOnWithout(line) {
  await openFile(page, model, line);
  await clickGutter(page, line);
  await continueToEnd(page);
}

const launch = (name, more) => ({ name, type: 'dynascope', request: 'launch', program: '${workspaceFolder}/transformer.py', console: 'internalConsole', ...more });

test('click the margin, press F5: stack, variables, hover, console, step, continue', { timeout: 240_000 }, async () => {
  launchJson();
  const scores = lineOf(model, 'scores =');
  await stopAt(scores);

  const stack = await callStack(page);
  assert.deepEqual(stack.slice(0, 3).map((frame) => frame.name), ['Attention.forward [0/0]', 'Block.forward [0/0]', 'Model.forward [0/0]']);
  assert.equal(stack[1].line, lineOf(model, 'self.attention(self.norm(x))'));
  assert.equal(stack[2].line, lineOf(model, 'x = block(x)'));
  assert.ok(stack.some((frame) => frame.name === 'main' && frame.line === lineOf(model, 'logits = model(')), JSON.stringify(stack));

  await toggle(page, 'Locals');
  await variable(page, /^self ?[:=] ?self\.blocks\[0\]\.attention \(Attention module\)/);
  await variable(page, /^query ?[:=] ?f32\[s\d+, 4, s\d+, 8\]/);
  await workbench.screenshot('stop');
  await toggle(page, 'query');
  await variable(page, /^shape ?[:=]/);
  await toggle(page, 'query', false);
  await toggle(page, 'Locals', false);
  const scopes = await scopeNames(page);
  assert.deepEqual(scopes.filter((name) => name !== 'Closure'), ['Locals', 'Globals', 'Value Stack', 'Guards', 'Shapes', 'Graph', 'Compile', 'Changes']);

  const widget = await hover(page, 'scores = query', 'query');
  assert.match(await widget.innerText(), /f32\[s\d+, 4, s\d+, 8\]/);
  await workbench.screenshot('hover');
  await page.keyboard.press('Escape');

  await evaluate(page, 'query.shape', /torch\.Size\(\[s?\d+, 4, s?\d+, 8\]\)/);
  await evaluate(page, 'ctx', /ComptimeContext/);
  await workbench.screenshot('console');

  await stopsBy(page, 'F10', MODEL, lineOf(model, 'weights ='));
  await toggle(page, 'Locals');
  await variable(page, /^scores ?[:=] ?f32\[/);

  await goOnWithout(scores);
  await command(page, 'Terminal: Focus Terminal');
  await terminalShows(page, /logits: \(2, 8, 100\)/);
});

test('back by a line, to the previous breakpoint, and to the first line of a call', { timeout: 240_000 }, async () => {
  launchJson();
  const scores = lineOf(model, 'scores =');
  const weights = lineOf(model, 'weights =');
  const button = (name) => page.locator(`.debug-toolbar .action-label[aria-label^="${name}"]`);
  await stopAt(scores);
  await stopsBy(page, 'F10', MODEL, weights);
  await stopsBy(page, () => button('Step Back').click(), MODEL, scores);
  await toggle(page, 'Locals');
  await variable(page, /^query ?[:=] ?f32\[s\d+, 4, s\d+, 8\]/);
  await workbench.screenshot('step-back');
  await toggle(page, 'Locals', false);
  await stopsBy(page, 'F10', MODEL, weights);
  await stopsBy(page, () => button('Reverse').click(), MODEL, scores);
  await callStack(page);
  await stopsBy(page, () => choose(page, page.locator('.debug-call-stack .stack-frame', { hasText: /^\w+\.forward \[/ }).nth(1), 'Restart Frame'), MODEL, lineOf(model, 'self.attention(self.norm(x))'));
  await goOnWithout(scores);
});

test('the history of a value, and the way to the line that made it', { timeout: 240_000 }, async () => {
  launchJson();
  const scores = lineOf(model, 'scores =');
  const made = lineOf(model, 'return x.view(');
  await stopAt(scores);
  await toggle(page, 'Locals');
  await toggle(page, 'query');
  await variable(page, /^history ?[:=]/, { stay: true });
  await toggle(page, 'history');
  await variable(page, new RegExp(`^${MODEL}:${made} ?[:=] ?"?made f32`), { stay: true });
  await workbench.screenshot('history');
  await stopsBy(page, () => choose(page, variableRow(page, `${MODEL}:${made}`), 'Go Back to This Moment'), MODEL, made);
  await workbench.screenshot('history-go-there');
  await goOnWithout(scores);
});

test('the timeline of the compile, and the way back to an event', { timeout: 240_000 }, async () => {
  launchJson();
  const scores = lineOf(model, 'scores =');
  await stopAt(scores);
  const view = page.locator('.pane', { has: page.locator('.pane-header', { hasText: 'Compile Timeline' }) });
  const header = view.locator('.pane-header');
  if ((await header.getAttribute('aria-expanded')) !== 'true') await header.click();
  const row = view.locator('.monaco-list-row', { hasText: /Dynamo begins to compile \S*forward\./ });
  await row.hover();
  await workbench.screenshot('timeline');
  await stopsBy(page, () => row.locator('.action-label[aria-label="Go Back to This Moment"]').click(), MODEL, lineOf(model, 'x = self.embed(tokens)'));
  await view.locator('.monaco-list-row', { hasText: 'Stopped: breakpoint.' }).click();
  await header.click();
  await goOnWithout(scores);
});

test('what a step has changed, what if something were different, and Jump to Cursor', { timeout: 240_000 }, async () => {
  launchJson();
  const scores = lineOf(model, 'scores =');
  await stopAt(scores);
  await stopsBy(page, 'F10', MODEL, lineOf(model, 'weights ='));
  await toggle(page, 'Changes');
  await toggle(page, 'since the previous stop');
  await variable(page, new RegExp(`^${MODEL}:${scores}.* ?[:=] ?"?name scores = f32\\[`), { stay: true });
  await workbench.screenshot('changes');
  await toggle(page, 'Changes', false);
  await evaluate(page, 'what if graph break', /Nothing is changed\. To compile with this change: what if keep/);
  await workbench.screenshot('what-if');
  await openFile(page, model, scores);
  await stopsBy(page, () => command(page, 'Debug: Jump to Cursor'), MODEL, scores);
  await goOnWithout(scores);
});

test('two compiles side by side, and the line that has the guard that failed', { timeout: 240_000 }, async () => {
  launchJson();
  const gate = path.join(workbench.workspace, 'gate.py');
  const last = lineOf(gate, 'return mixed');
  await stopAt(last, gate);
  await leaveBy(page, 'F5');
  await frameIs('Gate.forward [2/0]');
  const view = page.locator('.pane', { has: page.locator('.pane-header', { hasText: 'Compile Timeline' }) });
  const header = view.locator('.pane-header');
  if ((await header.getAttribute('aria-expanded')) !== 'true') await header.click();
  const row = view.locator('.monaco-list-row', { hasText: 'Recompiled because of' });
  await view.locator('.monaco-list-row').first().hover();
  await page.mouse.wheel(0, 66); // three rows: the view shows a part of this one
  await row.hover();
  await row.locator('.action-label[aria-label="Compare Compiles"]').click();
  await page.locator('.editor-instance .view-lines', { hasText: 'First difference, at gate.py' }).waitFor();
  await workbench.screenshot('compare');
  await row.hover();
  await row.locator('.action-label[aria-label="Go Back to This Moment"]').click();
  await frameIs('Linear.forward [0/0 past]');
  await header.click();
  await openFile(page, gate, last);
  await clickGutter(page, last);
  for (const frame of ['Gate.forward [1/0 past]', 'Gate.forward [2/0]']) {
    await leaveBy(page, 'F5');
    await frameIs(frame);
  }
  await continueToEnd(page);
});

test('back beyond the compile: the one before', { timeout: 240_000 }, async () => {
  launchJson();
  const gate = path.join(workbench.workspace, 'gate.py');
  const [first, last] = [lineOf(gate, 'mixed, gate ='), lineOf(gate, 'return mixed')];
  await stopAt(first, gate);
  await leaveBy(page, 'F5');
  await frameIs('Gate.forward [0/1]');
  await stopsBy(page, () => page.locator('.debug-toolbar .action-label[aria-label^="Step Back"]').click(), 'gate.py', last);
  assert.match((await callStack(page))[0].name, /^Gate\.forward \[\d+\/0.* past\]$/);
  await toggle(page, 'Locals');
  await variable(page, /^strength ?[:=] ?f32\[2, 8\]/);
  await workbench.screenshot('look-back');
  await toggle(page, 'Locals', false);
  await leaveBy(page, 'F5');
  await frameIs('Gate.forward [0/1]');
  await clickGutter(page, first);
  await continueToEnd(page);
});

test('the picture of the README', { timeout: 240_000 }, async () => {
  launchJson();
  const scores = lineOf(model, 'scores =');
  await stopAt(scores);
  await callStack(page);
  await evaluate(page, 'ctx.print_graph()', /layer_norm/);
  await evaluate(page, 'query', /f32\[s\d+/);
  await evaluate(page, '(query @ key.transpose(-1, -2)).shape', /torch\.Size\(\[s?\d+, 4, s?\d+, s?\d+\]\)/);
  await dragBorder(page, '.part.sidebar', { dx: 130 });
  await page.locator('.pane-header[aria-label^="Watch"]').click();
  await dragBorder(page, '.pane-header[aria-label^="Call Stack"]', { dy: 215 });
  await toggle(page, 'Locals');
  await toggle(page, 'Shapes');
  await toggle(page, 'Compile');
  await variable(page, /^backend/);
  await command(page, 'Debug Console: Focus on Debug Console View'); // no row of the tree keeps its focus frame
  await page.mouse.move(700, 890); // no scroll bar shows because the mouse is there
  await workbench.screenshot('workbench');
  await page.locator('.pane-header[aria-label^="Watch"]').click();
  await dragBorder(page, '.part.sidebar', { dx: -130 });
});

test('the frames of the running program below the traced ones, restart, stop', { timeout: 240_000 }, async () => {
  launchJson(launch('console'));
  const line = lineOf(model, 'weights =');
  await openFile(page, model, line);
  await clickGutter(page, line);
  await start('console');
  await stoppedAt(page, MODEL, line);
  await callStack(page);
  await page.locator('.debug-call-stack .stack-frame', { hasText: /^main/ }).first().click();
  await toggle(page, 'Locals');
  await variable(page, /^model ?[:=] ?OptimizedModule/);
  await evaluate(page, 'type(model).__name__ + "!"', /OptimizedModule!/);
  const before = programs();
  assert.equal(before.length > 0, true);
  await page.locator('.debug-toolbar .codicon-debug-restart').click();
  await until(() => programs().some((pid) => !before.includes(pid)), () => 'nothing was started again');
  await stoppedAt(page, MODEL, line);
  assert.deepEqual(programs().filter((pid) => before.includes(pid)), [], 'the first run is still there');
  await page.keyboard.press('Shift+F5');
  await sessionOver(page);
  await until(() => programs().length === 0, () => `left behind: ${programs()}`);
});

test('a process of the program is debugged in a session of its own', { timeout: 240_000 }, async () => {
  launchJson(launch('children', { program: '${workspaceFolder}/children.py' }));
  const line = lineOf(model, 'return self.head(x)');
  await openFile(page, model, line);
  await clickGutter(page, line);
  await start('children');
  await stoppedAt(page, MODEL, line);
  // The list draws only the rows that fit, and two sessions leave no room for the last frames.
  assert.equal((await callStack(page, { complete: false }))[0].name, 'Model.forward [0/0]');
  assert.equal(await page.locator('.debug-call-stack .monaco-list-row .session').count(), 2);
  await continueToEnd(page);
});

test('the language server runs', { timeout: 240_000 }, async () => {
  await openFile(page, model);
  await page.locator('.statusbar-item[id="status.languageStatus"]').hover();
  await page.locator('.hover-language-status:visible', { hasText: 'Dynascope: running' }).waitFor();
});

test('a breakpoint on an empty line moves to the next that has code', { timeout: 240_000 }, async () => {
  launchJson(launch('console'));
  const empty = lineOf(model, 'return x + self.feed_forward') - 1;
  await openFile(page, model, empty);
  await clickGutter(page, empty);
  await start('console');
  await stoppedAt(page, MODEL, empty + 1);
  assert.deepEqual(await breakpointLines(page), [empty + 1]);
});

test('a breakpoint in a library, and output in the debug console', { timeout: 240_000 }, async () => {
  launchJson(launch('console'));
  const library = path.join(path.dirname(await pythonSays('import torch; print(torch.__file__)')), 'nn/modules/sparse.py');
  const line = lineOf(library, 'return F.embedding(');
  await openFile(page, library, line);
  await clickGutter(page, line);
  await start('console');
  await stoppedAt(page, 'sparse.py', line);
  const stack = await callStack(page);
  assert.deepEqual(stack.slice(0, 2).map((frame) => frame.name), ['Embedding.forward [0/0]', 'Model.forward [0/0]']);
  await toggle(page, 'Locals');
  await variable(page, /^input ?[:=] ?i64\[/);
  await continueToEnd(page);
  await command(page, 'Debug Console: Focus on Debug Console View');
  await consoleShows(page, /logits: \(2, 8, 100\)/);
});

test('compile time only', { timeout: 240_000 }, async () => {
  launchJson(launch('compile time', { runtime: false }));
  const [first, last, running] = ['x = self.embed(tokens)', 'return self.head(x)', 'print('].map((text) => lineOf(model, text));
  await openFile(page, model, first);
  for (const line of [first, last, running]) {
    await goToLine(page, line);
    await clickGutter(page, line);
  }
  await start('compile time');
  await stoppedAt(page, MODEL, first);
  assert.equal((await callStack(page))[0].name, 'Model.forward [0/0]');
  await stopsBy(page, 'F5', MODEL, last);
  await workbench.screenshot('compile-time-only');
  await continueToEnd(page); // the line that only runs did not stop
  await command(page, 'Debug Console: Focus on Debug Console View');
  await consoleShows(page, /logits: \(2, 8, 100\)/);
});

test('attach to dynascope.listen()', { timeout: 240_000 }, async () => {
  const waiting = path.join(workbench.workspace, 'waiting.py');
  const program = spawn(PYTHON, [waiting], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const lines = readline.createInterface({ input: program.stdout })[Symbol.asyncIterator]();
    const port = Number(/:(\d+)$/.exec((await lines.next()).value)[1]);
    launchJson({ name: 'attach', type: 'dynascope', request: 'attach', connect: { host: '127.0.0.1', port } });
    const line = lineOf(waiting, 'y = x + x');
    await openFile(page, waiting, line);
    await clickGutter(page, line);
    await start('attach');
    await stoppedAt(page, 'waiting.py', line);
    assert.equal((await callStack(page))[0].name, 'double [0/0]');
    await page.keyboard.press('Shift+F5'); // disconnect: the program runs on
    await sessionOver(page);
    assert.match((await lines.next()).value, /result: tensor\(\[2\., 2\., 2\.\]\)/);
  } finally {
    await end(program);
  }
});

test('an interpreter that does not exist, has no torch, or no dynascope, is named; the start goes on once it has', { timeout: 240_000 }, async () => {
  const bare = path.join(workbench.workspace, 'bare');
  fs.writeFileSync(bare, `#!/bin/sh\nexec ${await pythonSays('import sys; print(sys.executable)')} -I -S "$@"\n`, { mode: 0o755 });
  launchJson(launch('nowhere', { python: '/nowhere/python' }), launch('bare', { python: bare }));
  await start('nowhere');
  const toast = page.locator('.notifications-toasts .notification-list-item');
  await toast.first().waitFor();
  assert.match(await notifications(page), /There is no Python interpreter \/nowhere\/python \(from launch\.json\)/);
  assert.equal(await toast.first().locator('.monaco-button', { hasText: 'Open launch.json' }).count(), 1);
  await workbench.screenshot('no-interpreter');
  await toast.first().locator('.monaco-button', { hasText: 'Show Log' }).click();
  await page.locator('.panel .view-line:visible', { hasText: 'failed: ENOENT' }).first().waitFor();
  await dismissNotifications(page);
  await start('bare');
  await page.locator('.notifications-toasts .notification-list-item', { hasText: 'torch is not installed' }).waitFor();
  await workbench.screenshot('no-torch');
  await dismissNotifications(page);
  const empty = path.join(workbench.workspace, 'empty');
  const python = path.join(empty, 'bin', 'python');
  spawnSync(await pythonSays('import sys; print(sys.executable)'), ['-m', 'venv', empty]);
  const { stdout: packages } = spawnSync(python, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], { encoding: 'utf8' });
  const torch = path.join(packages.trim(), 'torch-2.13.0.dist-info'); // torch itself is not asked for
  fs.mkdirSync(torch);
  fs.writeFileSync(path.join(torch, 'METADATA'), 'Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n');
  const went = path.join(workbench.workspace, 'went-on');
  fs.writeFileSync(path.join(workbench.workspace, 'plain.py'), `open(${JSON.stringify(went)}, "w").close()\n`);
  launchJson(launch('without dynascope', { python, program: '${workspaceFolder}/plain.py' }));
  await start('without dynascope');
  await toast.filter({ hasText: 'dynascope is not installed' }).locator('.monaco-button', { hasText: /^Install$/ }).click();
  await until(() => fs.existsSync(went), () => 'the start did not go on', 120_000);
  await workbench.screenshot('installed');
  const found = spawnSync(path.join(empty, 'bin', 'dynascope'), ['--version'], { encoding: 'utf8' });
  assert.match(found.stdout, /dynascope/);
});

async function until(holds, complaint, timeout = 30_000) {
  for (const deadline = Date.now() + timeout; !(await holds()); ) {
    assert.ok(Date.now() < deadline, complaint());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Process ids of whatever runs a program of the workspace. */
function programs() {
  return fs.readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(model);
    } catch {
      return false; // it ended just now
    }
  });
}

function pythonSays(code) {
  return new Promise((resolve, reject) => {
    const child = spawn(PYTHON, ['-c', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    child.on('close', (code) => (code === 0 ? resolve(text.trim()) : reject(new Error(`${PYTHON} failed`))));
  });
}
