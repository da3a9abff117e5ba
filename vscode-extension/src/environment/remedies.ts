// What helps against a problem of the environment: another environment of the workspace, the package of the extension, a choice.
import type { PythonExtension } from '@vscode/python-extension';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { candidates, chooseInterpreter, describe } from './chooseInterpreter';
import { bundled, install } from './install';
import { PYTHON_EXTENSION } from './interpreter';
import type { Problem } from './preflight';

export interface Remedy {
  readonly kind: 'environment' | 'package' | 'choice';
  /** What a button says. */
  readonly title: string;
  /** Returns whether the problem may be gone. */
  readonly run: () => Promise<boolean>;
}

/** The environments of a workspace that are asked for torch, at most. */
const ASKED = 12;

/** Returns the remedies for a problem, the best first. */
export async function remedies(problem: Problem, extension: vscode.Uri): Promise<Remedy[]> {
  const found: Remedy[] = [];
  const other = problem.kind === 'noTorch' ? await environmentWithTorch() : undefined;
  if (other) {
    const [folder] = folders();
    const shown = path.relative(folder ?? '/', path.dirname(path.dirname(other)));
    found.push({ kind: 'environment', title: vscode.l10n.t('Use {0}', shown), run: () => use(other) });
  }
  const pip = problem.install;
  if (pip) found.push({ kind: 'package', title: vscode.l10n.t('Install'), run: () => install(pip, bundled(extension)) });
  return [...found, { kind: 'choice', title: vscode.l10n.t('Choose Interpreter'), run: chooseInterpreter }];
}

/** Returns an interpreter of the workspace's environments that has torch, and dynascope if one has both. */
export async function environmentWithTorch(): Promise<string | undefined> {
  const files = candidates(folders(), {}).slice(0, ASKED);
  const told = await Promise.all(files.map(describe));
  const withTorch = files.filter((_, at) => /\btorch \d/.test(told[at] ?? '') && !/\bno torch\b/.test(told[at] ?? ''));
  return withTorch.find((file) => /\bdynascope \d/.test(told[files.indexOf(file)] ?? '')) ?? withTorch[0];
}

function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
}

/** Makes an interpreter that of the workspace: the Python extension's if it is installed, else the setting. */
async function use(file: string): Promise<boolean> {
  const python = vscode.extensions.getExtension<PythonExtension | undefined>(PYTHON_EXTENSION);
  const environments = (await python?.activate())?.environments;
  if (environments) await environments.updateActiveEnvironmentPath(file, vscode.workspace.workspaceFolders?.[0]?.uri);
  else await vscode.workspace.getConfiguration('dynascope').update('python', file, vscode.ConfigurationTarget.Workspace);
  return true;
}
