// The real workbench: code-server with our .vsix in fresh directories, opened in headless Chromium.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const HERE = path.dirname(import.meta.dirname);
const CACHE = process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache');
export const ROOT = process.env.DYNASCOPE_WORKBENCH ?? path.join(CACHE, 'dynascope-workbench');
const CODE_SERVER = path.join(ROOT, 'node_modules/code-server/out/node/entry.js');
const VSIX = process.env.DYNASCOPE_VSIX ?? path.join(HERE, '../../vscode-extension/dynascope.vsix');
export const ARTEFACTS = path.join(HERE, 'artefacts');

/** How long anything in the workbench may take, in milliseconds: compile time on a busy two-core machine included. */
export const PATIENCE = 90_000;

/** The interpreter that has torch and dynascope. */
export const PYTHON = process.env.DYNASCOPE_PYTHON ?? 'python3';

/** One that is Python 3.12 or newer, if there is one: the other may be 3.11. */
export const NEWER_PYTHON = process.env.DYNASCOPE_NEWER_PYTHON || undefined;

const SETTINGS = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'on',
  'editor.stickyScroll.enabled': false,
  'editor.scrollbar.horizontal': 'hidden',
  'workbench.enableExperiments': false,
  'workbench.colorTheme': 'Default Light Modern',
  'workbench.layoutControl.enabled': false,
  'window.commandCenter': false,
  'security.workspace.trust.enabled': false,
  'editor.minimap.enabled': false,
  'editor.fontFamily': 'DejaVu Sans Mono',
  'chat.commandCenter.enabled': false,
  'debug.toolBarLocation': 'floating',
  'debug.console.acceptSuggestionOnEnter': 'off',
  'remote.autoForwardPorts': false,
  'terminal.integrated.shellIntegration.enabled': false,
  'terminal.integrated.gpuAcceleration': 'off', // the terminal's text is in the page then
  'terminal.integrated.defaultProfile.linux': 'bash',
};

/** A port that nothing listens on. */
export function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Start everything, on a copy of workspace/. `settings` come on top of SETTINGS; `prepare` gets the copy before it is opened. */
export async function startWorkbench({ settings = {}, prepare = () => {}, withExtension = true, viewport = { width: 1400, height: 900 } } = {}) {
  for (const needed of [CODE_SERVER, VSIX]) if (!fs.existsSync(needed)) throw new Error(`${needed} is missing: run tests/e2e/run.sh`);
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'dynascope-e2e-'));
  const data = path.join(root, 'data');
  const workspace = path.join(root, 'workspace');
  fs.cpSync(path.join(HERE, 'workspace'), workspace, { recursive: true });
  prepare(workspace);
  fs.mkdirSync(ARTEFACTS, { recursive: true });
  const all = { ...SETTINGS, 'dynascope.python': PYTHON, ...settings };
  // A workbench in a browser is a remote window: machine-scoped settings count only from Machine/settings.json.
  const configure = (more) => {
    for (const scope of ['User', 'Machine']) {
      fs.mkdirSync(path.join(data, scope), { recursive: true });
      fs.writeFileSync(path.join(data, scope, 'settings.json'), JSON.stringify({ ...all, ...more }));
    }
  };
  configure({});
  const env = { ...process.env, SHELL: '/bin/bash', PS1: '$ ' };
  for (const name of ['CONFIG', 'DATA', 'CACHE', 'STATE']) env[`XDG_${name}_HOME`] = path.join(root, name.toLowerCase());
  const base = [CODE_SERVER, '--config', path.join(root, 'config.yaml'), '--user-data-dir', data, '--extensions-dir', path.join(root, 'extensions')];
  if (withExtension) execFileSync(process.execPath, [...base, '--install-extension', VSIX, '--force'], { env, stdio: 'pipe' });

  const port = await freePort();
  const log = fs.openSync(path.join(root, 'server.log'), 'w');
  const flags = ['--auth', 'none', '--disable-telemetry', '--disable-update-check', '--disable-workspace-trust', '--disable-getting-started-override'];
  const server = spawn(process.execPath, [...base, ...flags, '--bind-addr', `127.0.0.1:${port}`, workspace], {
    env,
    stdio: ['ignore', log, log],
    detached: true, // its own process group, so that all of it can be ended
  });
  endOnExit(server);
  const url = `http://127.0.0.1:${port}`;
  await serves(`${url}/healthz`, server);
  const { browser, page } = await openBrowser(root, viewport);
  await page.goto(`${url}/?folder=${encodeURIComponent(workspace)}`);
  await page.waitForSelector('.monaco-workbench .explorer-folders-view .monaco-list-row');

  return {
    page,
    workspace,
    installed: path.join(root, 'extensions'),
    /** Changes settings; the workbench notices by itself. */
    configure,
    screenshot: (name) => page.screenshot({ path: path.join(ARTEFACTS, `${name}.png`) }),
    async stop() {
      await browser.close().catch(() => {});
      await end(server);
      if (!process.env.KEEP) fs.rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** Wait until a server that was started answers. */
export async function serves(url, server) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    try {
      if ((await fetch(url)).ok) return;
    } catch (error) {
      if (Date.now() > deadline || server.exitCode !== null) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Start Chromium with its data in a folder. */
export async function openBrowser(root, viewport) {
  const browser = await chromium.launchPersistentContext(path.join(root, 'chromium'), {
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    headless: true,
    viewport,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const page = browser.pages()[0] ?? (await browser.newPage());
  page.setDefaultTimeout(PATIENCE / 2);
  return { browser, page };
}

/** However this process ends, short of SIGKILL, nothing it started stays behind. */
export function endOnExit(child) {
  process.once('exit', () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // the group is gone already
    }
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
}

/** End a detached child with its whole process group. */
export async function end(child) {
  const over = () => child.exitCode !== null || child.signalCode !== null;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  const signal = (name) => {
    try {
      process.kill(-child.pid, name);
    } catch {
      // the group is gone already
    }
  };
  if (!over()) {
    signal('SIGTERM');
    const timer = setTimeout(() => signal('SIGKILL'), 5_000);
    await exit;
    clearTimeout(timer);
  }
  signal('SIGKILL');
}

/** Reload the window once the workbench has stored editors with these texts: in a browser it does so every few seconds, and not when it is left. */
export async function reloadWhenStored(page, ...texts) {
  const deadline = Date.now() + PATIENCE;
  while (!(await page.evaluate(storedEditors)).some((stored) => texts.every((text) => (text instanceof RegExp ? text.test(stored) : stored.includes(text))))) {
    if (Date.now() > deadline) throw new Error(`no editors with ${texts} are stored`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await page.reload();
}

/** What the databases of the page have of the editors that are open. */
async function storedEditors() {
  const databases = (await indexedDB.databases()).filter(({ name }) => name.startsWith('vscode-web-state-db-'));
  const stored = databases.map(
    ({ name }) =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open(name);
        opening.onerror = reject;
        opening.onsuccess = () => {
          const asked = opening.result.transaction('ItemTable').objectStore('ItemTable').get('memento/workbench.parts.editor');
          asked.onerror = reject;
          asked.onsuccess = () => resolve(String(asked.result));
          opening.result.close();
        };
      }),
  );
  return Promise.all(stored);
}
