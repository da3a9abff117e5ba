import { beforeEach, expect, test } from 'vitest';
import './support';
import { placeOf, recordedDocuments } from '../src/runs/recordedDocuments';
import { definitions, EventEmitter, files, links, Position, Uri } from './vscode';

const TEXT = [
  '# f [0/0] graph: as Dynamo passed it to the backend',
  'def forward(self,',
  '    l_x_,  # f32[3]  x',
  '):',
  '',
  '    # layers.0',
  '    # File: /home/me/model.py:3 in helper, code: return t.relu()',
  '    # called at File: /home/me/model.py:10 in f, code: z = helper(x)',
  '    relu = l_x_.relu()  # f32[3]',
  '    sin = relu.sin()  # f32[3]',
  '',
  '    return (sin,)',
].join('\n');
const KEY = '["/a/.dynascope","one"]';
const uri = Uri.from({ scheme: 'dynascope-recorded', path: '/f [0-0] graph.py', query: JSON.stringify([KEY, 'graph:17']) });
const document = { uri, getText: () => TEXT };
const asked: [string, unknown][] = [];
let answers: Record<string, unknown>;

beforeEach(() => {
  asked.length = 0;
  answers = { 'dynascope/document': TEXT, 'dynascope/locate': 12 };
  const request = <T>(method: string, params: object): Promise<T | undefined> => {
    asked.push([method, params]);
    return Promise.resolve(answers[method] as T | undefined);
  };
  recordedDocuments({ request, onDidChangeFacts: new EventEmitter<void>().event as never });
});

test('the text is the server\'s; without one the document says why it is empty', async () => {
  const provider = files.get('dynascope-recorded') ?? expect.fail('there are no files');
  const text = async (): Promise<string> => new TextDecoder().decode(await provider.readFile(uri));
  expect(await text()).toBe(TEXT);
  expect(asked).toEqual([['dynascope/document', { key: KEY, document: 'graph:17' }]]);
  expect(await provider.stat(uri)).toEqual({ type: 1, ctime: 0, mtime: 0, size: TEXT.length });
  expect(() => provider.writeFile()).toThrow('What was recorded cannot be changed.');
  answers = {};
  expect(await text()).toContain('The language server does not run');
});

test('each line of the program is a link, which leads to where the line is now', async () => {
  const provider = links.get('dynascope-recorded');
  const found = provider?.provideDocumentLinks(document) ?? [];
  expect(found.map(({ range }) => TEXT.split('\n')[range.start.line]?.slice(range.start.character, range.end.character))).toEqual(['/home/me/model.py:3', '/home/me/model.py:10']);
  expect(asked).toEqual([]);
  const [first] = found;
  expect((first && (await provider?.resolveDocumentLink?.(first)))?.target).toMatchObject({ fsPath: '/home/me/model.py', fragment: 'L12' });
  expect(asked).toEqual([['dynascope/locate', { key: KEY, place: { path: '/home/me/model.py', line: 3 } }]]);
});

test('Go to Definition leads from a node to its line', async () => {
  const provider = definitions.get('dynascope-recorded');
  const found = await provider?.provideDefinition(document, new Position(9, 6));
  expect([found?.uri.fsPath, found?.range.start.line]).toEqual(['/home/me/model.py', 11]);
  expect(await provider?.provideDefinition(document, new Position(2, 6))).toBeUndefined();
  expect([5, 6, 7, 8, 9, 11].map((line) => placeOf(TEXT, line)?.line)).toEqual([undefined, 3, 10, 3, 3, undefined]);
});
