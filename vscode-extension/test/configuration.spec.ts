import { expect, test } from 'vitest';
import type { DebugConfiguration, LogOutputChannel, WorkspaceFolder } from 'vscode';
import { ConfigurationProvider, isChild, offered } from '../src/debugging/configuration';
import type { Problem } from '../src/environment/preflight';
import { folder, interpreterThatSays, write } from './support';
import { fakeLog, state, Uri, window } from './vscode';

const WORKSPACE = { uri: Uri.file('/tmp'), name: 'tmp', index: 0 } as unknown as WorkspaceFolder;

function provider(): { provider: ConfigurationProvider; problems: Problem[] } {
  const problems: Problem[] = [];
  const log = fakeLog().channel as unknown as LogOutputChannel;
  return { provider: new ConfigurationProvider(log, (problem) => void problems.push(problem)), problems };
}

const resolve = (given: Partial<DebugConfiguration>, within: 'folder' | 'no folder' = 'folder'): unknown =>
  provider().provider.resolveDebugConfiguration(within === 'folder' ? WORKSPACE : undefined, given as DebugConfiguration);

const launch = (more: Record<string, unknown>): DebugConfiguration => ({ type: 'dynascope', request: 'launch', name: 'n', ...more });

test('F5 without a launch.json debugs the current file', () => {
  window.activeTextEditor = { document: { languageId: 'python', uri: Uri.file('/tmp/a.py') } };
  expect(resolve({})).toEqual({
    type: 'dynascope',
    request: 'launch',
    name: 'Dynascope: Current File',
    program: '${file}',
    console: 'integratedTerminal',
    cwd: '${workspaceFolder}',
  });
});

test('F5 with nothing to debug says what to do', () => {
  expect(resolve({})).toBeUndefined();
  expect(state.shown).toEqual(['Open the Python file to debug, then press F5.']);
});

test('what launch.json says is kept, unknown arguments included', () => {
  const given = launch({ module: 'pkg', console: 'internalConsole', cwd: '/x', justMyCode: false, django: true });
  expect(resolve(given)).toEqual(given);
});

test('without a folder the program runs in its own', () => {
  expect(resolve(launch({}), 'no folder')).toMatchObject({ program: '${file}', cwd: '${fileDirname}' });
});

test('attach gets no launch defaults', () => {
  const given = { type: 'dynascope', request: 'attach', name: 'n', connect: { port: 1 } };
  expect(resolve(given)).toEqual(given);
});

test('the interpreter of the session is written into a launch, arguments and all', async () => {
  const python = interpreterThatSays({});
  const { provider: p } = provider();
  const resolved = await p.resolveDebugConfigurationWithSubstitutedVariables(WORKSPACE, launch({ python: [python, '-X', 'dev'] }));
  expect(resolved?.['python']).toEqual([python, '-X', 'dev']);
});

test('an interpreter that cannot run the adapter ends the launch, with the reason', async () => {
  const { provider: p, problems } = provider();
  expect(await p.resolveDebugConfigurationWithSubstitutedVariables(WORKSPACE, launch({ python: '/nowhere/python' }))).toBeUndefined();
  expect(problems.map((problem) => problem.message).join()).toContain('There is no Python interpreter /nowhere/python');
});

test('a session the adapter asked for is not checked again', async () => {
  const child = { type: 'dynascope', request: 'attach', name: 'child', subProcessId: 7, python: '/nowhere/python' };
  expect(isChild(child)).toBe(true);
  expect(await provider().provider.resolveDebugConfigurationWithSubstitutedVariables(WORKSPACE, child)).toEqual(child);
});

test('envFile goes below env; a missing .env is no error, another missing file is', async () => {
  const python = interpreterThatSays({});
  const envFile = write('settings.env', 'A=file\nB="from file"\n# comment\n');
  const { provider: p, problems } = provider();
  const run = (more: Record<string, unknown>): Promise<DebugConfiguration | undefined> =>
    p.resolveDebugConfigurationWithSubstitutedVariables(WORKSPACE, launch({ python, ...more }));
  expect((await run({ envFile, env: { A: 'launch' } }))?.['env']).toEqual({ A: 'launch', B: 'from file' });
  expect(await run({ envFile: `${folder.path}/.env` })).not.toHaveProperty('envFile');
  expect(problems).toEqual([]);
  expect(await run({ envFile: `${folder.path}/other.env` })).toBeUndefined();
  expect(problems[0]?.message).toContain('other.env');
});

test('Run and Debug offers the current file, and compile time only', async () => {
  const configurations = await offered.provideDebugConfigurations?.(undefined);
  expect(configurations?.map((configuration) => [configuration['program'] as unknown, configuration['runtime'] as unknown])).toEqual([
    ['${file}', undefined],
    ['${file}', false],
  ]);
});
