import { expect, test } from 'vitest';
import { showDocument } from '../src/runs/reportPanel';
import { write } from './support';
import { opened, panels } from './vscode';

const passed: unknown[] = [];
const next = (params: unknown): { success: boolean } => {
  passed.push(params);
  return { success: true };
};

test('a page of the server is shown in one panel, which can be closed', async () => {
  for (const page of ['<p>one', '<p>two']) {
    const uri = `file://${write('report.html', page)}`;
    expect(await showDocument({ uri, external: true }, next)).toEqual({ success: true });
  }
  expect(panels.map((each) => each.webview.html)).toEqual(['<p>two']);
  panels[0]?.dispose();
  await showDocument({ uri: `file://${write('report.html', '<p>three')}`, external: true }, next);
  expect(panels).toHaveLength(2);
  expect(passed).toEqual([]);
});

test('a place on the page that is clicked is opened', async () => {
  await showDocument({ uri: `file://${write('report.html', '<p>one')}`, external: true }, next);
  await panels.at(-1)?.clicked?.({ path: '/models/model.py', line: 7 });
  expect(opened).toEqual(['/models/model.py:7']);
});

test('other documents are the editor\'s to open', async () => {
  await showDocument({ uri: 'https://pytorch.org/', external: true }, next);
  await showDocument({ uri: 'file:///model.py', external: false }, next);
  expect(passed).toHaveLength(2);
});
