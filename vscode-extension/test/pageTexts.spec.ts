import { expect, test, vi } from 'vitest';
import { showPicture } from '../src/runs/graphPanel';
import { extension } from './support';
import { EventEmitter, l10n, panels } from './vscode';

const GERMAN = { 'in {0}': 'in "{0}"', Search: 'Suche & Filter', '{0} compiles, {1}.': '{0} Kompilate, {1}.', 'module {0}': 'Modul {0}' };

test('a page has its texts in the language of the editor', async () => {
  l10n.bundle = GERMAN;
  const request = <T>(): Promise<T | undefined> => Promise.resolve({ title: 'f [0/0] graph', graphs: [] } as T);
  await showPicture({ request, onDidChangeFacts: new EventEmitter<void>().event as never }, extension(), { id: 'graph:17', name: 'f [0-0] graph.py' }, '["/a",""]');
  l10n.bundle = undefined;
  const [, texts = ''] = / data-texts="([^"]*)"/.exec(panels.at(-1)?.webview.html ?? '') ?? [];
  const sent = texts.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  expect(JSON.parse(sent)).toEqual(GERMAN);

  vi.stubGlobal('document', { body: { dataset: { texts: sent } } });
  await import('../src/webviews/pageTexts');
  const { told } = await import('../src/graph/drawing');
  expect(told({ id: 1, kind: 'module', label: 'layers.0', detail: '', size: 1, children: [] })).toEqual(['Modul layers.0']);
  vi.unstubAllGlobals();
});
