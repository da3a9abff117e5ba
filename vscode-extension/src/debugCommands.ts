// The commands that the language server offers on its lenses and quick fixes: debug the compile of a function, or of a line.
import * as vscode from 'vscode';
import type { StaticFeature } from 'vscode-languageclient';
import { CURRENT_FILE } from './configuration';

/** What the server passes; `line` counts from 1. */
export interface Target {
  readonly uri: string;
  readonly line: number;
  /** Of `dynascope.debugFunction`: with its class, `Model.forward`. */
  readonly function?: string;
}

export const DEBUG_COMMANDS: Readonly<Record<string, (target: Target) => Promise<void>>> = {
  'dynascope.debugFunction': (target) => debugAt(target, new vscode.FunctionBreakpoint(target.function ?? '')),
  // No extension can tick an exception filter, so it stops at the line instead.
  'dynascope.debugFinding': (target) => debugAt(target, new vscode.SourceBreakpoint(new vscode.Location(vscode.Uri.parse(target.uri), new vscode.Position(target.line - 1, 0)))),
};

/** Tells the server that the commands exist: it offers none that the client has not named. */
export const debugCommands: StaticFeature = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), commands: { commands: Object.keys(DEBUG_COMMANDS) } };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

async function debugAt(target: Target, breakpoint: vscode.Breakpoint): Promise<void> {
  const uri = vscode.Uri.parse(target.uri);
  if (uri.scheme !== 'file') {
    void vscode.window.showInformationMessage('Only a file can be debugged: save this code as a Python file first.');
    return;
  }
  const same = vscode.debug.breakpoints.filter((each) => stopsWhere(each) === stopsWhere(breakpoint));
  // One that is there stays as it is, with its condition; a breakpoint cannot be switched on, only replaced.
  if (!same.some((each) => each.enabled)) {
    vscode.debug.removeBreakpoints(same);
    vscode.debug.addBreakpoints([breakpoint]);
  }
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(uri), { ...CURRENT_FILE, program: uri.fsPath });
}

function stopsWhere(breakpoint: vscode.Breakpoint): string {
  if (breakpoint instanceof vscode.FunctionBreakpoint) return breakpoint.functionName;
  if (!(breakpoint instanceof vscode.SourceBreakpoint)) return breakpoint.id;
  return `${breakpoint.location.uri.toString()}:${breakpoint.location.range.start.line}`;
}
