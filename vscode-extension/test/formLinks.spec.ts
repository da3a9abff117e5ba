import { expect, test } from 'vitest';
import './support';
import { formLinks, madeOf } from '../src/runs/formLinks';
import { places } from '../src/runs/places';
import { firstKernel, openDocument, recordedDocuments } from '../src/runs/recordedDocuments';
import { columns, debug, EventEmitter, opened, Position, state, TabInputWebview, Uri, window } from './vscode';

/** What the server answers, and what it was asked. */
const answers = new Map<string, unknown>();
const requested: [string, unknown][] = [];
const server = {
  request: <T>(method: string, params: object): Promise<T | undefined> => {
    requested.push([method, params]);
    return Promise.resolve(answers.get(method) as T | undefined);
  },
  onDidChangeFacts: new EventEmitter<void>().event as never,
};

test('the places above nodes and kernels, and callers, are links to their lines', () => {
  const text = [
    'def forward(self,',
    '    # File: /home/me/my model.py:3 in helper, code: return t.relu()',
    '    # called at File: /home/me/model.py:10 in forward, code: z = helper(y)  # File: x:1',
    '    # Backward of forward node: File: /home/me/model.py:3 in helper, code: return t.relu()',
    '    le = torch.ops.aten.le.Scalar(relu, 0)',
  ].join('\n');
  expect(places(text).map(({ line, path, target }) => [line, path, target])).toEqual([
    [1, '/home/me/my model.py', 3],
    [2, '/home/me/model.py', 10],
    [3, '/home/me/model.py', 3],
  ]);
  const [first] = places(text);
  expect(text.split('\n')[1]?.slice(first?.start, first?.end)).toBe('/home/me/my model.py:3');
});

test('what was made of the line with the cursor is written to the debug console', async () => {
  const asked: unknown[] = [];
  formLinks(server);
  const ask = (): unknown => state.commands.get('dynascope.formsOfLine')?.();
  await ask();
  expect(state.shown.join()).toContain('Put the cursor on a line');
  window.activeTextEditor = { document: { languageId: 'python', uri: Uri.file('/p/model.py') }, selection: { active: new Position(19, 4) } };
  debug.activeDebugSession = {
    id: 'one',
    type: 'dynascope',
    customRequest: (command, body) => {
      asked.push([command, body]);
      return asked.length > 2 ? Promise.reject(new Error('Nothing is from model.py:20.')) : Promise.resolve({ result: 'f [0/0] graph' });
    },
  };
  await ask();
  expect(asked).toEqual([
    ['evaluate', { expression: 'forms from /p/model.py:20', context: 'repl' }],
    ['dynascopeSay', { text: 'f [0/0] graph' }],
  ]);
  await ask();
  expect(state.shown.join()).toContain('Nothing is from model.py:20.');
});

test('what is chosen of it is opened at its line', async () => {
  const answer = [
    'forward [0/0] graph',
    '    13  relu = y.relu()  # f32[3, 4]',
    'forward [0/0] output code',
    '   103  cpp_fused_relu_0(buf0, buf1)',
  ].join('\n');
  expect(madeOf(answer).map(({ name, line }) => [name, line])).toEqual([
    ['forward [0/0] graph', 13],
    ['forward [0/0] output code', 103],
  ]);
  formLinks(server);
  window.activeTextEditor = { document: { languageId: 'python', uri: Uri.file('/p/model.py') }, selection: { active: new Position(19, 4) } };
  const sources = [{ name: 'forward [0/0] graph' }, { name: 'forward [0/0] output code', sourceReference: 7 }];
  const customRequest = (command: string): Promise<unknown> => Promise.resolve(command === 'loadedSources' ? { sources } : { result: answer });
  debug.activeDebugSession = { id: 'one', type: 'dynascope', customRequest };
  state.answer = 'cpp_fused_relu_0(buf0, buf1)';
  await state.commands.get('dynascope.formsOfLine')?.();
  expect(opened).toEqual(['forward [0/0] output code:103']);
});

test('without a debug session the last recorded run is read, and output code opens at its first kernel', async () => {
  recordedDocuments(server);
  formLinks(server);
  const ask = (): unknown => state.commands.get('dynascope.formsOfLine')?.();
  window.activeTextEditor = { document: { languageId: 'python', uri: Uri.file('/p/model.py') }, selection: { active: new Position(19, 4) } };
  await ask();
  expect(requested.at(-2)).toMatchObject(['dynascope/madeOfLine', { line: 20 }]);
  expect(state.shown.at(-1)).toContain('Nothing has been recorded here yet');
  answers.set('dynascope/rows', [{ key: 'run', label: 'train.py' }]);
  await ask();
  expect(state.shown.join()).toContain('the output code of the last run is from model.py:20.');
  const document = { id: 'form-text:3:output code', name: 'forward [0-0] output code.py' };
  answers.set('dynascope/madeOfLine', [{ key: 'run', name: 'forward [0/0] output code', document, line: 5, text: 'cpp_fused_relu_0(buf0)' }]);
  answers.set('dynascope/document', 'import torch\n\n# File: model.py:20 in forward\n# Source Nodes: [relu]\ncpp_fused_relu_0 = async_compile.cpp_pybinding()\n');
  state.answer = 'cpp_fused_relu_0(buf0)';
  window.tabGroups.activeTabGroup = { viewColumn: 1, activeTab: { input: new TabInputWebview() } };
  await ask();
  expect(opened.at(-1)).toMatch(/output code\.py:5$/);
  await openDocument(document, 'run');
  expect(opened.at(-1)).toMatch(/output code\.py:3$/);
  window.tabGroups.activeTabGroup.viewColumn = 2;
  await openDocument(document, 'run');
  expect(columns).toEqual([-2, -2, 1]);
});

test('the first kernel of output code is found with what is said of it, or the first call', () => {
  expect(firstKernel('import torch\n\n# File: model.py:20 in forward\n# of [relu]\nkernel = async_compile.triton()\n')).toBe(3);
  expect(firstKernel('def call(args):\n    extern_kernels.mm(a, b, out=buf0)\n')).toBe(2);
  expect(firstKernel('def call(args):\n    return ()\n')).toBeUndefined();
});
