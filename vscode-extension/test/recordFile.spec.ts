import { beforeEach, expect, test } from 'vitest';
import type { Uri as VsUri } from 'vscode';
import { recordFile } from '../src/runs/recordFile';
import type { Problem } from '../src/environment/preflight';
import { folder, interpreterThatSays } from './support';
import { executed, state, tasks, Uri, window, workspace } from './vscode';

const problems: Problem[] = [];
let shown = 0;
const recorded: string[] = [];
const view = { recording: (program: string): void => void recorded.push(program), show: (): Promise<void> => Promise.resolve(void (shown += 1)) };
const record = recordFile((problem) => problems.push(problem), view);
const file = (): VsUri => Uri.file(`${folder.path}/train.py`) as unknown as VsUri;

beforeEach(() => {
  problems.length = 0;
  shown = recorded.length = 0;
  workspace.workspaceFolders = [{ uri: Uri.file(folder.path) }];
  state.settings.set('dynascope.python', interpreterThatSays({}));
});

test('a file is run by `dynascope run` in its folder, and the view is shown when it has ended', async () => {
  await record(file());
  const [execution] = executed;
  expect(recorded).toEqual(['train.py']);
  expect(execution?.task.name).toBe('Record train.py');
  const run = execution?.task.execution;
  expect([run?.process, run?.args, run?.options.cwd]).toEqual([state.settings.get('dynascope.python'), ['-P', '-m', 'dynascope', 'run', 'train.py'], folder.path]);
  tasks.end({ task: { name: 'another' } as never });
  expect(shown).toBe(0);
  tasks.end(execution);
  tasks.end(execution);
  expect(shown).toBe(1);
});

test('the file in the editor is taken, if it is a Python file', async () => {
  await record();
  window.activeTextEditor = { document: { languageId: 'markdown', uri: Uri.file('/README.md') } };
  await record();
  expect(state.shown).toEqual(['Open the Python file to record first.', 'Open the Python file to record first.']);
  window.activeTextEditor = { document: { languageId: 'python', uri: Uri.file(`${folder.path}/models/net.py`) } };
  await record();
  expect(executed.map(({ task }) => task.execution.args.at(-1))).toEqual(['models/net.py']);
});

test('an interpreter without dynascope is reported', async () => {
  state.settings.set('dynascope.python', interpreterThatSays({ missing: ['dynascope'] }));
  await record(file());
  expect(problems[0]?.message).toContain('not installed');
  expect(executed).toEqual([]);
});
