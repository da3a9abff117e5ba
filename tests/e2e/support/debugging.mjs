// What a user sees of a debug session: call stack, variables, console; and how it is steered.
import assert from 'node:assert/strict';
import { command } from './editor.mjs';
import { PATIENCE } from './workbench.mjs';

const clean = (text) => text.replace(/[\u00a0\s]+/g, ' ').trim();

/** The call stack's frames, top first: { name, file, line }. The workbench fetches the top frame first, the rest a little later. */
export async function callStack(page, { complete = true } = {}) {
  if (complete) await page.locator('.debug-call-stack .stack-frame', { hasText: '<module>' }).first().waitFor();
  const rows = await page.$$eval('.debug-call-stack .monaco-list-row .stack-frame', (frames) =>
    frames.map((frame) => ({
      name: frame.querySelector('.label.expression, .expression')?.textContent ?? '',
      file: frame.querySelector('.file-name')?.textContent ?? '',
      line: Number((frame.querySelector('.line-number')?.textContent ?? '').split(':')[0]),
    })),
  );
  return rows.map((row) => ({ ...row, name: clean(row.name) }));
}

/** Wait until the program is stopped with its top frame at `line` of `file`, and the editor highlights that line. */
export async function stoppedAt(page, file, line) {
  try {
    await page.waitForFunction(
      ([file, line]) => {
        const top = document.querySelector('.debug-call-stack .monaco-list-row .stack-frame');
        if (!top || top.querySelector('.file-name')?.textContent !== file) return false;
        if (Number(top.querySelector('.line-number')?.textContent.split(':')[0]) !== line) return false;
        const lit = document.querySelector('.editor-instance .debug-top-stack-frame-line');
        const number = [...document.querySelectorAll('.editor-instance .margin-view-overlays .line-numbers')].find((n) => n.textContent === String(line));
        return lit && number && Math.abs(lit.getBoundingClientRect().y - number.getBoundingClientRect().y) < 3;
      },
      [file, line],
      { timeout: PATIENCE },
    );
  } catch (error) {
    const seen = JSON.stringify((await callStack(page, { complete: false })).slice(0, 3));
    throw new Error(`no stop at ${file}:${line}; the call stack is ${seen}; ${await notifications(page)}`, { cause: error });
  }
}

/** Press this key (or call this function) until the program has left its stop: VS Code loses a press while it draws, and one at a frame of the stop before. */
export async function leaveBy(page, gesture) {
  const where = async () => JSON.stringify((await callStack(page, { complete: false }))[0]);
  const isLeft = async () => !(await page.locator('.debug-toolbar .codicon-debug-continue').isVisible()) || (await where()) !== before;
  const before = await where();
  for (let attempt = 1; ; attempt++) {
    await (typeof gesture === 'string' ? page.keyboard.press(gesture) : gesture());
    for (const deadline = Date.now() + 15_000; Date.now() < deadline; await page.waitForTimeout(50)) if (await isLeft()) return;
    assert.ok(attempt < 4, `still stopped at ${before}; ${await notifications(page)}`);
  }
}

/** Press this key (or call this function), and wait for the stop at `line` of `file` that it leads to. */
export async function stopsBy(page, gesture, file, line) {
  await leaveBy(page, gesture);
  await stoppedAt(page, file, line);
}

/** Press F5 until a session begins: the workbench may not have seen a new launch.json yet, and asks for a debugger then. */
export async function startDebugging(page) {
  for (let attempt = 1; ; attempt++) {
    await page.keyboard.press('F5');
    try {
      return await page.locator('.debug-toolbar:visible').waitFor({ timeout: 20_000 });
    } catch (error) {
      if (attempt === 4) throw error;
      await page.keyboard.press('Escape');
    }
  }
}

/** Wait until no debug session is left. */
export async function sessionOver(page) {
  await page.locator('.debug-toolbar:visible').waitFor({ state: 'detached' });
}

/** The texts of the rows in the Variables view. */
export async function variables(page) {
  return (await page.locator('.debug-variables .monaco-list-row').allInnerTexts()).map(clean);
}

/** The names of the scopes, in order; needs them visible. */
export async function scopeNames(page) {
  return page.$$eval('.debug-variables .monaco-list-row[aria-level="1"]', (rows) => rows.map((row) => row.textContent.trim()));
}

/** Open (or close) a row of the Variables view whose text starts with `text`. */
export async function toggle(page, text, open = true) {
  const row = page.locator('.debug-variables .monaco-list-row', { hasText: new RegExp(`^\\s*${text}`) }).first();
  if ((await row.count()) === 0) await variable(page, new RegExp(`^${text}`), { stay: true });
  const wanted = String(open);
  for (let attempt = 1; ; attempt++) {
    try {
      if ((await row.getAttribute('aria-expanded')) !== wanted) await row.locator('.monaco-tl-twistie').click({ timeout: 5_000 });
      await page.waitForFunction(
        ([text, wanted]) => [...document.querySelectorAll('.debug-variables .monaco-list-row')].some((row) => row.textContent.trim().startsWith(text) && row.getAttribute('aria-expanded') === wanted),
        [text, wanted],
        { timeout: 10_000 },
      );
      return;
    } catch (error) {
      if (attempt === 4) throw error; // a click is lost where the view is drawn anew
    }
  }
}

/**
 * Wait for a row of the Variables view that matches; the view holds only the rows it has room for, so it is scrolled
 * (`stay`: and stays there). `scope` is opened: where the view is drawn anew for a stop just then, a click opens what it had before.
 */
export async function variable(page, pattern, { stay = false, scope = undefined } = {}) {
  const found = (timeout) =>
    page.waitForFunction(
      (source) => [...document.querySelectorAll('.debug-variables .monaco-list-row')].some((row) => new RegExp(source).test(row.innerText.replace(/[\u00a0\s]+/g, ' '))),
      pattern.source,
      { timeout },
    );
  const list = page.locator('.debug-variables .monaco-list').first();
  const deadline = Date.now() + 30_000;
  for (let scrolled = 0; ; scrolled = (scrolled + 1) % 4) {
    if (scope) await toggle(page, scope);
    try {
      await found(2_000);
      if (scrolled > 0 && !stay) await page.mouse.wheel(0, -10_000);
      return;
    } catch {
      assert.ok(Date.now() < deadline, `no variable like ${pattern}: ${(await variables(page)).join(' | ')}`);
      await list.hover({ position: { x: 5, y: 40 } });
      await page.mouse.wheel(0, scrolled === 3 ? -10_000 : 120);
    }
  }
}

/** A row of the Variables view whose text starts so; it has to be in sight. */
export function variableRow(page, start) {
  return page.locator('.debug-variables .monaco-list-row', { hasText: new RegExp(`^\\s*${start.replace(/[[\]().*+?$]/g, '\\$&')}`) }).first();
}

/** A row of the Breakpoints view, scrolled to: the view is small. */
export async function breakpointRow(page, text) {
  const row = page.locator('.debug-breakpoints .monaco-list-row', { hasText: text }).first();
  for (let attempt = 1; (await row.count()) === 0; attempt++) {
    assert.ok(attempt < 20, `no breakpoint ${text}`);
    await page.locator('.debug-breakpoints .monaco-list').first().hover();
    await page.mouse.wheel(0, attempt % 5 ? 60 : -1_000);
    await page.waitForTimeout(200);
  }
  return row;
}

/** F5, until the status bar says that the program has stopped for this reason: a press before VS Code knows of the last stop is lost. */
export async function continueUntil(page, pattern) {
  const text = page.locator('.statusbar-item:visible', { hasText: pattern }).first();
  for (let attempt = 1; ; attempt++) {
    await page.locator('.debug-toolbar .codicon-debug-continue').waitFor();
    await page.keyboard.press('F5');
    try {
      return await text.waitFor({ timeout: 20_000 });
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

/** F5, until no debug session is left: a press before VS Code has moved to the thread that stopped last is lost. */
export async function continueToEnd(page) {
  const button = page.locator('.debug-toolbar .codicon-debug-continue');
  await button.waitFor();
  for (let attempt = 1; ; attempt++) {
    if (await button.isVisible()) await page.keyboard.press('F5');
    try {
      return await page.locator('.debug-toolbar:visible').waitFor({ state: 'detached', timeout: 20_000 });
    } catch (error) {
      if (attempt === 4) throw error;
    }
  }
}

/** Evaluate in the debug console and wait for an answer that matches. */
export async function evaluate(page, expression, pattern) {
  await command(page, 'Debug Console: Focus on Debug Console View');
  await page.waitForSelector('.repl-input-wrapper .monaco-editor.focused');
  await page.keyboard.insertText(expression);
  await page.waitForFunction(
    (text) => document.querySelector('.repl-input-wrapper .view-lines').innerText.replace(/\u00a0/g, ' ').includes(text),
    expression,
  );
  await page.keyboard.press('Escape'); // no completion may take the Enter
  await page.keyboard.press('Enter');
  await consoleShows(page, pattern);
}

export async function consoleShows(page, pattern) {
  try {
    await page.waitForFunction(
      (source) => [...document.querySelectorAll('.repl .monaco-list-row')].some((row) => new RegExp(source).test(row.innerText.replace(/\u00a0/g, ' '))),
      pattern.source,
      { timeout: 30_000 },
    );
  } catch {
    const rows = await page.locator('.repl .monaco-list-row').allInnerTexts();
    assert.fail(`the debug console does not show ${pattern}: ${rows.join(' | ')}`);
  }
}

/** Wait for terminal output that matches. */
export async function terminalShows(page, pattern) {
  await page.waitForFunction(
    (source) => [...document.querySelectorAll('.terminal-wrapper .xterm-rows')].some((rows) => new RegExp(source).test(rows.innerText.replace(/\u00a0/g, ' '))),
    pattern.source,
  );
}

export async function notifications(page) {
  return (await page.locator('.notifications-toasts .notification-list-item-message, .monaco-dialog-box .dialog-message-text').allInnerTexts()).map(clean).join(' | ');
}

export async function dismissNotifications(page) {
  if ((await page.locator('.notifications-toasts .notification-list-item').count()) > 0) await command(page, 'Notifications: Clear All Notifications');
}

/** End what runs, remove the breakpoints, close the editors: the next test starts as if alone. */
export async function reset(page) {
  await page.keyboard.press('Escape');
  while ((await page.locator('.debug-toolbar:visible').count()) > 0) {
    const sessions = await page.locator('.debug-call-stack .monaco-list-row .session').count();
    const stop = page.locator('.debug-toolbar .codicon-debug-stop, .debug-toolbar .codicon-debug-disconnect').first();
    // a job whose last session ends meanwhile takes the toolbar with it
    if (!(await stop.click({ timeout: 3_000 }).then(() => true, () => false))) continue;
    await page.waitForFunction((n) => !document.querySelector('.debug-toolbar')?.checkVisibility() || document.querySelectorAll('.debug-call-stack .monaco-list-row .session').length < n, sessions);
  }
  await command(page, 'Remove All Breakpoints');
  await command(page, 'View: Close All Editors');
  await dismissNotifications(page);
}

