// `make test-environments`: a newcomer in each state that an environment may be in: the empty view names it and has one button that helps, and a first stop takes at most four actions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { clickGutter, lineOf, openFile } from './support/editor.mjs';
import { dismissNotifications, notifications, reset, stoppedAt } from './support/debugging.mjs';
import { PYTHON, startWorkbench } from './support/workbench.mjs';

const PROGRAM = 'small.py';
const SMALL = `import torch


@torch.compile(backend="eager")
def f(x):
    y = x + 1
    return y * 2


print(f(torch.ones(3)))
`;
/** What an interpreter of Python 3.10 says to who asks for its version. */
const OLD = 'import sys; sys.version_info = (3, 10, 2, "final", 0); exec(sys.argv[2])';
let workbench, page, program, elsewhere;

/** Runs Python, and returns what it prints. */
function says(code) {
  return execFileSync(PYTHON, ['-c', code], { encoding: 'utf8' }).trim();
}

/** Makes a command that runs this Python so; returns its path. */
function wrapper(root, line) {
  const file = path.join(root, 'bin', 'python');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  return file;
}

/** Makes an environment with all packages of this Python but Dynascope's; returns its interpreter and the folder of its packages. */
function withoutDynascope(root) {
  execFileSync(PYTHON, ['-m', 'venv', root]);
  const python = path.join(root, 'bin', 'python');
  const packages = execFileSync(python, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], { encoding: 'utf8' }).trim();
  const all = says('import torch, os; print(os.path.dirname(os.path.dirname(torch.__file__)))');
  for (const name of fs.readdirSync(all)) {
    if (!/dynascope|__editable__|\.pth$/i.test(name) && !fs.existsSync(path.join(packages, name))) fs.symlinkSync(path.join(all, name), path.join(packages, name));
  }
  return { python, packages };
}

/** The states: the interpreter that is set, the button in the empty view, and what is done after F5. */
const STATES = {
  'no interpreter': { make: () => '/nowhere/python', button: 'Choose Interpreter', help: choose },
  'an old Python': { make: (root) => wrapper(root, `exec ${says('import sys; print(sys.executable)')} -c '${OLD}' "$@"`), button: 'Choose Interpreter', help: choose },
  'no torch': { make: (root) => wrapper(root, `exec ${says('import sys; print(sys.executable)')} -I -S "$@"`), button: 'Choose Interpreter', help: choose },
  'no torch, but in an environment of the workspace': { make: (root) => wrapper(root, `exec ${says('import sys; print(sys.executable)')} -I -S "$@"`), button: 'Use the Environment with torch', help: press(/^Use \.venv$/), hasOther: true },
  'an old torch': { make: oldTorch, button: 'Choose Interpreter', help: choose },
  'torch without dynascope': { make: (root) => withoutDynascope(root).python, button: 'Install the Package', help: press(/^Install$/) },
  'a dynascope that cannot be imported': { make: broken, button: 'Install the Package', help: press(/^Install$/) },
};

function oldTorch(root) {
  const { python, packages } = withoutDynascope(root);
  for (const name of fs.readdirSync(packages)) if (/^torch-.*dist-info$/.test(name)) fs.rmSync(path.join(packages, name));
  const folder = path.join(packages, 'torch-2.5.1.dist-info');
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'METADATA'), 'Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1\n');
  return python;
}

function broken(root) {
  const { python, packages } = withoutDynascope(root);
  const folder = path.join(packages, 'dynascope');
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, '__init__.py'), '');
  fs.writeFileSync(path.join(folder, 'cli.py'), 'raise ImportError("half of it")\n');
  return python;
}

/** Chooses the interpreter that is elsewhere: a button, and its path, which is pasted. */
async function choose(act) {
  const toast = page.locator('.notifications-toasts .notification-list-item').first();
  await act(() => toast.locator('.monaco-button', { hasText: 'Choose Interpreter' }).click());
  await act(async () => {
    await page.locator('.quick-input-widget:visible input.input').first().fill(elsewhere);
    await page.locator('.quick-input-widget:visible .monaco-list-row', { hasText: elsewhere }).first().waitFor();
    await page.keyboard.press('Enter');
  });
}

/** Presses a button of the message. */
function press(label) {
  return (act) => act(() => page.locator('.notifications-toasts .notification-list-item .monaco-button', { hasText: label }).first().click());
}

before(async () => {
  workbench = await startWorkbench({ settings: { 'editor.inlayHints.enabled': 'off' }, viewport: { width: 1366, height: 768 } });
  ({ page } = workbench);
  program = path.join(workbench.workspace, PROGRAM);
  fs.writeFileSync(program, SMALL);
  elsewhere = wrapper(path.join(path.dirname(workbench.workspace), 'elsewhere'), `exec ${says('import sys; print(sys.executable)')} "$@"`);
}, { timeout: 180_000 });

after(async () => {
  await workbench?.stop();
});

for (const [state, { make, button, help, hasOther }] of Object.entries(STATES)) {
  test(`${state}: the view has the button that helps, and the first stop is at most four actions away`, { timeout: 300_000 }, async () => {
    const root = path.join(path.dirname(workbench.workspace), state.replaceAll(/\W+/g, '-'));
    const other = path.join(workbench.workspace, '.venv');
    fs.rmSync(path.join(workbench.workspace, '.vscode'), { recursive: true, force: true });
    fs.rmSync(path.join(workbench.workspace, '.dynascope'), { recursive: true, force: true });
    fs.rmSync(other, { recursive: true, force: true });
    if (hasOther) wrapper(other, `exec ${says('import sys; print(sys.executable)')} "$@"`);
    workbench.configure({ 'dynascope.python': make(root) });
    await page.locator('.activitybar .action-label[aria-label^="Dynascope"]').click();
    await page.locator('.part.sidebar .welcome-view a', { hasText: button }).waitFor();
    await workbench.screenshot(`environment-${path.basename(root)}`);
    const line = lineOf(program, 'y = x + 1');
    await openFile(page, program, line);
    let actions = 0;
    const act = async (what) => {
      actions++;
      await what();
    };
    await act(() => clickGutter(page, line));
    await act(() => page.keyboard.press('F5'));
    await page.locator('.notifications-toasts .notification-list-item').first().waitFor();
    await workbench.screenshot(`environment-${path.basename(root)}-asked`);
    await help(act);
    await stoppedAt(page, PROGRAM, line);
    assert.ok(actions <= 4, `${actions} actions`);
    await workbench.screenshot(`environment-${path.basename(root)}-stopped`);
    await reset(page);
    await dismissNotifications(page);
    assert.equal(await notifications(page), '');
  });
}
