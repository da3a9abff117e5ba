// The command "Choose Interpreter": offers Python interpreters, says what each has, and takes a path that is typed or pasted.
import type { PythonExtension } from '@vscode/python-extension';
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { expandHome, PYTHON_EXTENSION, WINDOWS } from './interpreter';

const PROBE = `
import sys
from importlib import metadata
found = ["Python %d.%d.%d" % sys.version_info[:3]]
for name in ("torch", "dynascope"):
    try:
        found.append("%s %s" % (name, metadata.version(name)))
    except metadata.PackageNotFoundError:
        found.append("no " + name)
print(", ".join(found))
`;
const PROBE_MS = 20_000;
const FOLDERS_OF_ENVIRONMENTS = ['', '.venvs', 'venvs', 'envs'];
const BROWSE: vscode.QuickPickItem = { label: `$(folder) ${vscode.l10n.t('Browse…')}`, alwaysShow: true };

/** Returns the interpreters to offer: the workspace's environments, then the active one, then PATH. Existing files only. */
export function candidates(folders: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const [bin, names] = WINDOWS ? ['Scripts', ['python.exe']] : ['bin', ['python3', 'python']];
  const roots = folders.flatMap((folder) => environments(folder));
  for (const variable of ['VIRTUAL_ENV', 'CONDA_PREFIX']) {
    const root = env[variable];
    if (root) roots.push(root);
  }
  const inEnvironments = roots.map((root) => path.join(root, bin, WINDOWS ? 'python.exe' : 'python'));
  const onPath = (env['PATH'] ?? '')
    .split(path.delimiter)
    .filter(Boolean)
    .flatMap((folder) => names.map((name) => path.join(folder, name)));
  return [...new Set([...inEnvironments, ...onPath])].filter((file) => fs.existsSync(file));
}

/** Returns the folders that may be environments, in a folder of the workspace and in the folders that keep several. */
function environments(folder: string): string[] {
  return FOLDERS_OF_ENVIRONMENTS.flatMap((name) => {
    try {
      return fs.readdirSync(path.join(folder, name)).sort().map((each) => path.join(folder, name, each));
    } catch {
      return []; // there is no such folder
    }
  });
}

/** Returns what an interpreter has, for the user: its version, torch's and dynascope's. */
export async function describe(file: string): Promise<string> {
  try {
    return (await promisify(execFile)(file, ['-c', PROBE], { timeout: PROBE_MS })).stdout.trim();
  } catch {
    return fs.existsSync(file) ? vscode.l10n.t('not a working Python') : vscode.l10n.t('no such file');
  }
}

/** Shows the Python extension's picker if it is installed, else one for the setting `dynascope.python`; returns whether one may have been chosen. */
export async function chooseInterpreter(resource?: vscode.Uri): Promise<boolean> {
  if (vscode.extensions.getExtension(PYTHON_EXTENSION)) {
    const before = extensionsChoice(resource);
    await vscode.commands.executeCommand('python.setInterpreter');
    return extensionsChoice(resource) !== before;
  }
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  let file = await pick(candidates(folders, process.env));
  if (file === BROWSE.label) {
    file = (await vscode.window.showOpenDialog({ title: vscode.l10n.t('Python interpreter'), openLabel: vscode.l10n.t('Choose') }))?.[0]?.fsPath;
  }
  if (!file) return false;
  const target = folders.length > 0 ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await vscode.workspace.getConfiguration('dynascope').update('python', expandHome(file), target);
  return true;
}

function extensionsChoice(resource: vscode.Uri | undefined): string | undefined {
  const { isActive, exports } = vscode.extensions.getExtension<PythonExtension | undefined>(PYTHON_EXTENSION) ?? {};
  const where = resource ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  return isActive ? exports?.environments.getActiveEnvironmentPath(where).path : undefined;
}

function pick(files: readonly string[]): Promise<string | undefined> {
  const shown = vscode.window.createQuickPick();
  shown.title = vscode.l10n.t('Dynascope: the Python that has torch and dynascope');
  shown.placeholder = vscode.l10n.t('Choose one, or paste the path of a Python 3.11 or later');
  shown.matchOnDescription = true;
  const descriptions = new Map<string, string>();
  const show = (): void => {
    const value = shown.value.trim();
    const typed = /[\\/]/.test(value) && !files.includes(value) ? [value] : [];
    shown.items = [
      ...typed.map((label) => ({ label, description: descriptions.get(label) ?? vscode.l10n.t('use this path'), alwaysShow: true })),
      ...files.map((label) => ({ label, description: descriptions.get(label) ?? '' })),
      BROWSE,
    ];
  };
  const say = (file: string): Promise<void> =>
    describe(expandHome(file)).then((description) => {
      descriptions.set(file, description);
      show();
    });
  return new Promise((resolve) => {
    shown.onDidChangeValue((value) => {
      show();
      if (/[\\/]/.test(value) && fs.existsSync(expandHome(value.trim()))) void say(value.trim());
    });
    shown.onDidAccept(() => {
      resolve(shown.selectedItems[0]?.label);
      shown.dispose();
    });
    shown.onDidHide(() => resolve(undefined));
    show();
    shown.show();
    for (const file of files) void say(file);
  });
}
