// The Breakpoints view lists every exception filter of the debugger above the breakpoints: only those in use are shown, the rest on request.
import type { DebugProtocol } from '@vscode/debugprotocol';
import * as vscode from 'vscode';

const SETTING = 'exceptionFilters.shown';

interface Choice {
  readonly enum: readonly string[];
  readonly enumItemLabels: readonly string[];
  readonly enumDescriptions: readonly string[];
}

function shown(): readonly string[] {
  return vscode.workspace.getConfiguration('dynascope').get<readonly string[]>(SETTING, []);
}

/** Leaves out of the answer to `initialize` the filters that are not shown; the adapter serves them all the same. */
export function showFilters(message: DebugProtocol.ProtocolMessage): void {
  const { type, command, body } = message as DebugProtocol.InitializeResponse;
  if (type !== 'response' || command !== 'initialize' || !body?.exceptionBreakpointFilters) return;
  const names = shown();
  body.exceptionBreakpointFilters = body.exceptionBreakpointFilters.filter(({ filter }) => names.includes(filter));
}

/** Returns the command that lets the user choose which filters are shown; `choice` is the setting's declaration. */
export function chooseFilters(choice: Choice): () => Promise<void> {
  return async () => {
    const names = shown();
    const items = choice.enum.map((name, at) => ({
      name,
      label: choice.enumItemLabels[at] ?? name,
      detail: choice.enumDescriptions[at] ?? '',
      picked: names.includes(name),
    }));
    const placeHolder = vscode.l10n.t('The exception filters that the Breakpoints view shows, from the next debug session on');
    const picked = await vscode.window.showQuickPick(items, { placeHolder, canPickMany: true });
    if (!picked) return;
    const target = vscode.ConfigurationTarget.Global;
    await vscode.workspace.getConfiguration('dynascope').update(SETTING, picked.map(({ name }) => name), target);
  };
}

/** Returns the setting's declaration. */
export function declared({ packageJSON }: vscode.Extension<unknown>): Choice {
  const { contributes } = packageJSON as { contributes: { configuration: { properties: { 'dynascope.exceptionFilters.shown': { items: Choice } } } } };
  return contributes.configuration.properties['dynascope.exceptionFilters.shown'].items;
}
