// JupyterLab with a kernel of the interpreter that has torch and dynascope, opened in headless Chromium.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ARTEFACTS, end, endOnExit, freePort, openBrowser, PATIENCE, PYTHON, ROOT, serves } from './workbench.mjs';

const JUPYTER = path.join(ROOT, 'jupyter/bin/jupyter-lab');

/** Start JupyterLab, and open a notebook with these cells. */
export async function startJupyter(cells) {
  if (!fs.existsSync(JUPYTER)) throw new Error(`${JUPYTER} is missing: run tests/e2e/install-workbench.sh`);
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'dynascope-jupyter-'));
  const folder = path.join(root, 'notebooks');
  const kernel = path.join(root, 'data/kernels/dynascope');
  for (const each of [folder, kernel, ARTEFACTS]) fs.mkdirSync(each, { recursive: true });
  const argv = [PYTHON, '-m', 'ipykernel_launcher', '-f', '{connection_file}'];
  fs.writeFileSync(path.join(kernel, 'kernel.json'), JSON.stringify({ argv, display_name: 'Python with torch', language: 'python' }));
  const notebook = {
    cells: cells.map((source, number) => ({ cell_type: 'code', id: `cell-${number}`, source, metadata: {}, outputs: [], execution_count: null })),
    metadata: { kernelspec: { name: 'dynascope', display_name: 'Python with torch', language: 'python' } },
    nbformat: 4,
    nbformat_minor: 5,
  };
  fs.writeFileSync(path.join(folder, 'train.ipynb'), JSON.stringify(notebook));

  const settings = path.join(root, 'settings/@jupyterlab/apputils-extension');
  fs.mkdirSync(settings, { recursive: true });
  fs.writeFileSync(path.join(settings, 'notification.jupyterlab-settings'), JSON.stringify({ fetchNews: 'false', checkForUpdates: false }));
  const env = {
    ...process.env,
    JUPYTER_DATA_DIR: path.join(root, 'data'),
    JUPYTER_CONFIG_DIR: path.join(root, 'config'),
    JUPYTER_RUNTIME_DIR: path.join(root, 'run'),
    JUPYTERLAB_SETTINGS_DIR: path.join(root, 'settings'),
    IPYTHONDIR: path.join(root, 'ipython'),
  };
  const port = await freePort();
  const log = fs.openSync(path.join(root, 'server.log'), 'w');
  const flags = ['--no-browser', '--allow-root', '--ServerApp.ip=127.0.0.1', `--ServerApp.port=${port}`, '--IdentityProvider.token=', `--ServerApp.root_dir=${folder}`];
  const server = spawn(JUPYTER, flags, { cwd: folder, env, stdio: ['ignore', log, log], detached: true });
  endOnExit(server);
  const url = `http://127.0.0.1:${port}`;
  await serves(`${url}/api`, server);
  const { browser, page } = await openBrowser(root, { width: 1200, height: 1000 });
  await page.goto(`${url}/lab/tree/train.ipynb?reset`);
  await page.locator('.jp-Notebook .jp-Cell').first().waitFor();
  await connected(page);

  return {
    page,
    folder,
    connected: () => connected(page),
    screenshot: (name) => page.screenshot({ path: path.join(ARTEFACTS, `${name}.png`) }),
    async stop() {
      await browser.close().catch(() => {});
      await end(server);
      if (!process.env.KEEP) fs.rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** Wait until the notebook has its kernel: before that a cell is not run at all. The server may miss that a new kernel is idle; the page asks it. */
async function connected(page) {
  await page.locator('#jp-main-statusbar', { hasText: '| Idle' }).waitFor({ timeout: PATIENCE });
}

/** Run the cell with this number, from 0; returns its output area. */
export async function run(page, number) {
  const cell = page.locator('.jp-Notebook .jp-Cell').nth(number);
  await cell.locator('.jp-InputArea-editor').click();
  await page.keyboard.press('Control+Enter');
  return cell.locator('.jp-Cell-outputArea');
}

/** Wait until the cell with this number, from 0, has been run, as the kernel's execution with this number. */
export async function wasRun(page, number, execution) {
  await page.locator('.jp-Notebook .jp-Cell').nth(number).locator('.jp-InputPrompt', { hasText: `[${execution}]:` }).waitFor({ timeout: PATIENCE });
}
