import { expect, test } from 'vitest';
import { AGENTS, agents, type Later } from '../src/environment/agents';
import './support';
import { state, Uri, workspace } from './vscode';

interface Registered {
  readonly id: string;
  readonly provider: { provideMcpServerDefinitions(): Promise<{ label: string; command: string; args: string[]; cwd?: { fsPath: string } }[]> };
}

class Definition {
  constructor(
    readonly label: string,
    readonly command: string,
    readonly args: string[],
  ) {}
}

function registered(): Registered {
  const found: Registered[] = [];
  const lm = {
    registerMcpServerDefinitionProvider: (id: string, provider: unknown) => {
      found.push({ id, provider } as Registered);
      return { dispose: () => undefined };
    },
  };
  agents('1.2.3', { lm, McpStdioServerDefinition: Definition } as unknown as Later);
  const [registered] = found;
  if (!registered) throw new Error('nothing was registered');
  return registered;
}

test('before VS Code 1.101 there is nothing to register', () => {
  expect(agents('1.2.3')).toEqual([]);
});

test('each folder has a server, run there by its interpreter', async () => {
  workspace.isTrusted = true;
  state.settings.set('dynascope.python', '${workspaceFolder}/.venv/bin/python');
  workspace.workspaceFolders = [{ uri: Uri.file('/one'), name: 'one' } as never, { uri: Uri.file('/two'), name: 'two' } as never];
  const { id, provider } = registered();
  expect(id).toBe(AGENTS);
  const [one, two] = await provider.provideMcpServerDefinitions();
  expect(one).toMatchObject({ label: 'Dynascope: one', args: ['-P', '-m', 'dynascope', 'mcp', '/one'], cwd: { fsPath: '/one' } });
  expect(two?.label).toBe('Dynascope: two');
});

test('in a workspace that is not trusted nothing is run', async () => {
  workspace.isTrusted = false;
  workspace.workspaceFolders = [{ uri: Uri.file('/one') }];
  const { provider } = registered();
  expect(await provider.provideMcpServerDefinitions()).toEqual([]);
});
