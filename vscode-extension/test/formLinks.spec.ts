import { expect, test } from 'vitest';
import './support';
import { formLinks, madeOf, places } from '../src/runs/formLinks';
import { debug, opened, Position, state, Uri, window } from './vscode';

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
  formLinks();
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
  formLinks();
  window.activeTextEditor = { document: { languageId: 'python', uri: Uri.file('/p/model.py') }, selection: { active: new Position(19, 4) } };
  const sources = [{ name: 'forward [0/0] graph' }, { name: 'forward [0/0] output code', sourceReference: 7 }];
  const customRequest = (command: string): Promise<unknown> => Promise.resolve(command === 'loadedSources' ? { sources } : { result: answer });
  debug.activeDebugSession = { id: 'one', type: 'dynascope', customRequest };
  state.answer = 'cpp_fused_relu_0(buf0, buf1)';
  await state.commands.get('dynascope.formsOfLine')?.();
  expect(opened).toEqual(['forward [0/0] output code:103']);
});
