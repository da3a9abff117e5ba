// Brings `dynascope mcp` to the chat of VS Code, with the interpreter of each folder of the workspace.
import * as vscode from 'vscode';
import { findInterpreter } from './interpreter';

/** The id in package.json, at `mcpServerDefinitionProviders`. */
export const AGENTS = 'dynascope';

interface ServerDefinition {
  cwd?: vscode.Uri;
}

/** The parts of the API that came after the oldest VS Code that the extension supports. */
export interface Later {
  readonly lm?: {
    registerMcpServerDefinitionProvider?(id: string, provider: { provideMcpServerDefinitions(): Promise<ServerDefinition[]> }): vscode.Disposable;
  };
  readonly McpStdioServerDefinition?: new (label: string, command: string, args: string[], env?: Record<string, string>, version?: string) => ServerDefinition;
}

/** Registers the servers where VS Code can take them (1.101). */
export function agents(version: string, { lm, McpStdioServerDefinition: Definition }: Later = vscode as unknown as Later): vscode.Disposable[] {
  if (!lm?.registerMcpServerDefinitionProvider || !Definition) return [];
  const provideMcpServerDefinitions = async (): Promise<ServerDefinition[]> => {
    const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
    return Promise.all(
      folders.map(async ({ uri, name }) => {
        const [executable, ...args] = (await findInterpreter(uri)).command;
        const label = folders.length > 1 ? `Dynascope: ${name}` : 'Dynascope';
        // -P: the server must not import a `types.py` or `dynascope.py` of the workspace.
        const definition = new Definition(label, executable, [...args, '-P', '-m', 'dynascope', 'mcp', uri.fsPath], {}, version);
        definition.cwd = uri;
        return definition;
      }),
    );
  };
  return [lm.registerMcpServerDefinitionProvider(AGENTS, { provideMcpServerDefinitions })];
}
