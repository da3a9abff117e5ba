// What helps against a problem of the environment: another environment of the workspace, the package of the extension, a choice.
import type { PythonExtension } from '@vscode/python-extension';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { candidates, chooseInterpreter, describe } from './chooseInterpreter';
import { bundled, install } from './install';
import { PYTHON_EXTENSION } from './interpreter';
import { MINIMUM_PYTHON, MINIMUM_TORCH, older, type Problem } from './preflight';

export interface Remedy {
  readonly kind: 'environment' | 'package' | 'choice' | 'configuration';
  /** What a button says. */
  readonly title: string;
  /** Returns whether the problem may be gone. */
  readonly run: () => Promise<boolean>;
}

/** The environments of a workspace that are asked for torch, at most, and for how long, in milliseconds. */
const ASKED = 12;
const PATIENCE_MS = 5_000;

/** Returns the remedies for a problem of a resource's interpreter, the best first. */
export async function remedies(problem: Problem, extension: vscode.Uri, resource?: vscode.Uri): Promise<Remedy[]> {
  const found: Remedy[] = [];
  const isNamed = problem.kind === undefined || problem.origin === 'launch.json'; // another choice would change nothing
  const other = problem.kind === 'noTorch' && !isNamed ? await environmentWithTorch(resource) : undefined;
  if (other) found.push({ kind: 'environment', title: vscode.l10n.t('Use {0}', shown(other)), run: () => use(other, resource) });
  const command = problem.install;
  if (command) found.push({ kind: 'package', title: vscode.l10n.t('Install'), run: () => install(command, bundled(extension)) });
  if (isNamed) found.push({ kind: 'configuration', title: vscode.l10n.t('Open launch.json'), run: openConfiguration });
  else found.push({ kind: 'choice', title: vscode.l10n.t('Choose Interpreter'), run: () => chooseInterpreter(resource) });
  return found;
}

/** Returns an interpreter of the workspace's environments that fits, and has dynascope if one does. */
export async function environmentWithTorch(resource?: vscode.Uri): Promise<string | undefined> {
  if (!vscode.workspace.isTrusted) return undefined;
  const own = resource && vscode.workspace.getWorkspaceFolder(resource);
  const folders = [...(own ? [own] : []), ...(vscode.workspace.workspaceFolders ?? [])].map((folder) => folder.uri.fsPath);
  const files = candidates([...new Set(folders)], {}).slice(0, ASKED);
  const patience = new Promise<string>((resolve) => setTimeout(() => resolve(''), PATIENCE_MS).unref());
  const told = await Promise.all(files.map((file) => Promise.race([describe(file), patience])));
  const fitting = files.filter((_, at) => fits(told[at] ?? ''));
  return fitting.find((file) => versionOf('dynascope', told[files.indexOf(file)] ?? '')) ?? fitting[0];
}

/** Whether what `describe` says of an interpreter is enough. */
function fits(description: string): boolean {
  const [python, torch] = [versionOf('Python', description), versionOf('torch', description)];
  return python !== undefined && torch !== undefined && !older(python, MINIMUM_PYTHON) && !older(torch, MINIMUM_TORCH);
}

function versionOf(name: string, description: string): string | undefined {
  return new RegExp(`(?:^|, )${name} (\\S+?)(?:,|$)`).exec(description)?.[1];
}

/** Returns an environment's folder, in the workspace's where it is in that. */
function shown(interpreter: string): string {
  const root = path.dirname(path.dirname(interpreter));
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(root));
  return folder ? path.relative(folder.uri.fsPath, root) : root;
}

async function openConfiguration(): Promise<boolean> {
  await vscode.commands.executeCommand('workbench.action.debug.configure');
  return false; // the user has to change it first
}

/** Makes an interpreter that of a resource: the Python extension's if it is installed, else the setting. */
async function use(file: string, resource: vscode.Uri | undefined): Promise<boolean> {
  const python = vscode.extensions.getExtension<PythonExtension | undefined>(PYTHON_EXTENSION);
  const environments = (await python?.activate())?.environments;
  if (environments) await environments.updateActiveEnvironmentPath(file, resource ?? vscode.workspace.workspaceFolders?.[0]?.uri);
  else await vscode.workspace.getConfiguration('dynascope', resource).update('python', file, vscode.ConfigurationTarget.Workspace);
  return true;
}
