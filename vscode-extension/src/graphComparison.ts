// Compare with Another Graph: two graphs of a run beside one another, with what differs marked in each.
import * as vscode from 'vscode';
import type { FactsServer, Row } from './explorer';
import { GONE, graphs, openPicture } from './graphPanel';

/** The compiles of a run, as they began. */
export async function compilesOf(server: FactsServer, key: string): Promise<Row[]> {
  const rows = async (...keys: string[]): Promise<Row[]> => (await server.request<Row[]>('dynascope/rows', { keys })) ?? [];
  const sections = (await rows(key)).filter((each) => each.key.startsWith('compiles:'));
  return (await Promise.all(sections.map((each) => rows(key, each.key)))).flat();
}

/** Opens the graph of a document and the same of a compile that the user chooses. */
export async function compareGraphs(server: FactsServer, extension: vscode.Uri, key: string, document: string): Promise<void> {
  const number = /\d+/.exec(document)?.[0];
  const all = await compilesOf(server, key);
  const own = all.find((each) => each.key === `compile:${number}`);
  const isOfSame = ({ label }: Row): boolean => label.split('/')[0] === own?.label.split('/')[0]; // `[0/1] forward`
  const others = all.filter((each) => each !== own);
  const compiles = [...others.filter(isOfSame), ...others.filter((each) => !isOfSame(each))];
  const items = compiles.map((each) => ({ label: each.label, description: each.description ?? '', compile: each.key.replace('compile:', '') }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: vscode.l10n.t('The compile to compare with'), matchOnDescription: true });
  if (!picked) return;
  const other = document.replace(/\d+/, picked.compile);
  const [left, right] = await Promise.all([document, other].map((each) => graphs(server, { key, document: each })));
  if (left && right) {
    openPicture(server, extension, { key, document, other }, left, undefined, vscode.ViewColumn.Active);
    openPicture(server, extension, { key, document: other, other: document }, right);
  } else void vscode.window.showInformationMessage(GONE);
}
