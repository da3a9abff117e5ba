// Chooses the Python that runs the adapter, the language server and (unless launch.json names another) the program.
import type { PythonExtension } from '@vscode/python-extension';
import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

/** The origin of an interpreter, so that a message can say what to change. */
export type Origin = 'launch.json' | 'the Python extension' | 'the setting dynascope.python' | 'PATH';

export interface Interpreter {
  /** The executable, then its own arguments. */
  readonly command: readonly [string, ...string[]];
  readonly origin: Origin;
}

export const PYTHON_EXTENSION = 'ms-python.python';
export const WINDOWS = process.platform === 'win32';

/** Returns `python` of a launch configuration, which is, as in debugpy, a path, or a path and arguments. */
export function fromConfiguration(python: unknown): Interpreter | undefined {
  if (typeof python === 'string' && python !== '') return { command: [expandHome(python)], origin: 'launch.json' };
  if (!Array.isArray(python)) return undefined;
  const [executable, ...rest] = python.filter((part): part is string => typeof part === 'string');
  return executable ? { command: [expandHome(executable), ...rest], origin: 'launch.json' } : undefined;
}

/** Returns the interpreter for `resource`: the Python extension's, else the setting, else python3. */
export async function findInterpreter(resource: vscode.Uri | undefined): Promise<Interpreter> {
  const active = await fromPythonExtension(resource);
  if (active) return { command: [active], origin: 'the Python extension' };
  const setting = vscode.workspace.getConfiguration('dynascope', resource).get<string>('python', '').trim();
  if (setting) return { command: [expand(setting, resource)], origin: 'the setting dynascope.python' };
  return { command: [WINDOWS ? 'python' : 'python3'], origin: 'PATH' };
}

async function fromPythonExtension(resource: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension | undefined>(PYTHON_EXTENSION);
  if (!extension) return undefined;
  try {
    const environments = (await extension.activate())?.environments;
    const chosen = environments?.getActiveEnvironmentPath(resource);
    if (!environments || !chosen) return undefined;
    const resolved = await environments.resolveEnvironment(chosen);
    return resolved?.executable.uri?.fsPath;
  } catch {
    return undefined; // if that extension fails to start, the setting must still work
  }
}

/** Calls `changed` when the Python extension's choice changes, if it is installed; returns what ends that. */
export async function onInterpreterChanged(changed: () => void): Promise<vscode.Disposable | undefined> {
  try {
    const python = await vscode.extensions.getExtension<PythonExtension | undefined>(PYTHON_EXTENSION)?.activate();
    return python?.environments.onDidChangeActiveEnvironmentPath(changed);
  } catch {
    return undefined; // see above
  }
}

export function expandHome(file: string): string {
  return file.startsWith('~/') ? path.join(os.homedir(), file.slice(2)) : file;
}

function expand(setting: string, resource: vscode.Uri | undefined): string {
  const folder = (resource && vscode.workspace.getWorkspaceFolder(resource)) ?? vscode.workspace.workspaceFolders?.[0];
  const root = folder?.uri.fsPath ?? '';
  const file = expandHome(setting).replaceAll('${workspaceFolder}', root).replaceAll('${userHome}', os.homedir());
  // A relative path with a folder in it is relative to the workspace; a bare name is searched for on PATH.
  return root && /[\\/]/.test(file) && !path.isAbsolute(file) ? path.join(root, file) : file;
}
