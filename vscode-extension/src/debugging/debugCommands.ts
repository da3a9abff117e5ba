// The commands of the language server's code lenses and quick fixes: debug the compile of a function or of a line.
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { StaticFeature } from 'vscode-languageclient';
import { CURRENT_FILE } from './configuration';
import { AWAITED } from './missedStops';

/** The server's argument; `line` counts from 1. */
export interface Target {
  readonly uri: string;
  readonly line: number;
  /** For `dynascope.debugFunction`: the name with its class, `Model.forward`. */
  readonly function?: string;
  /** For `dynascope.debugFinding`: exception filters of the debugger, and their condition. */
  readonly filters?: readonly string[];
  readonly condition?: string;
  /** The recorded program, with its arguments and working directory, if it is known; else the file itself is started. */
  readonly program?: string;
  readonly module?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
}

export const DEBUG_COMMANDS: Readonly<Record<string, (target: Target) => Promise<void>>> = {
  'dynascope.debugFunction': debugFunction,
  // An extension cannot tick an exception filter, so the configuration switches it on for this session.
  'dynascope.debugFinding': async (target) => {
    if (isFile(target)) await debug(target, placeOf(target), { exceptionFilters: (target.filters ?? []).map((filterId) => ({ filterId, condition: target.condition })) });
  },
};

/** Declares the commands to the server, which offers only those that the client declares; questions are modal; hovers here begin with diagnostics; the view of runs is told of new facts. */
export const debugCommands: StaticFeature = {
  fillClientCapabilities(capabilities) {
    const commands = { commands: Object.keys(DEBUG_COMMANDS) };
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), commands, ask: true, diagnosticsInHovers: true, factsChanged: true };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

async function debugFunction(target: Target): Promise<void> {
  if (!isFile(target)) return;
  const breakpoint = new vscode.FunctionBreakpoint(target.function ?? '');
  const same = vscode.debug.breakpoints.filter((each) => each instanceof vscode.FunctionBreakpoint && each.functionName === breakpoint.functionName);
  // An enabled one is kept with its condition; a disabled one cannot be enabled, only replaced.
  if (!same.some((each) => each.enabled)) {
    vscode.debug.removeBreakpoints(same);
    vscode.debug.addBreakpoints([breakpoint]);
  }
  await debug(target, breakpoint.functionName);
}

function isFile(target: Target): boolean {
  if (vscode.Uri.parse(target.uri).scheme === 'file') return true;
  void vscode.window.showInformationMessage(vscode.l10n.t('Only a file can be debugged: save this code as a Python file first.'));
  return false;
}

function placeOf({ uri, line }: Target): string {
  return `${path.basename(vscode.Uri.parse(uri).fsPath)}:${line}`;
}

async function debug(target: Target, awaited: string, more: object = {}): Promise<void> {
  const uri = vscode.Uri.parse(target.uri);
  const { module, args, cwd } = target;
  const program = module ? undefined : (target.program ?? uri.fsPath);
  const session = { name: `Dynascope: ${awaited}`, program, module, args, cwd, [AWAITED]: awaited };
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), { ...CURRENT_FILE, ...session, ...more });
}
