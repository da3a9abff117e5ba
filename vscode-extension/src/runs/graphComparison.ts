// Compare with Another Graph: two graphs of a program beside one another, of one run or of two, with what differs marked in each.
import * as vscode from 'vscode';
import type { FactsServer, Row } from './factsServer';
import { GONE, graphs, loadPicture } from './graphPanel';

/** The response of the server's request `dynascope/runsOfProgram`. */
interface RunsOfProgram {
  readonly name: string;
  /** The run before is the first. */
  readonly others: readonly { readonly key: string; readonly name: string }[];
}

/** A compile to compare with, as it is offered. */
interface Item extends vscode.QuickPickItem {
  readonly key: string;
  readonly compile: string;
  /** The name of its run, where that is another one. */
  readonly run?: string;
}

/** So many other runs are offered: the compiles of each are read. */
const RUNS = 10;

/** The compiles of a run, as they began. */
export async function compilesOf(server: FactsServer, key: string): Promise<Row[]> {
  const rows = async (...keys: string[]): Promise<Row[]> => (await server.request<Row[]>('dynascope/rows', { keys })) ?? [];
  const sections = (await rows(key)).filter((each) => each.key.startsWith('compiles:'));
  return (await Promise.all(sections.map((each) => rows(key, each.key)))).flat();
}

/** Opens the graph of a document and the same of a compile that the user chooses, of this run or of another one of the program. */
export async function compareGraphs(server: FactsServer, extension: vscode.Uri, key: string, document: string): Promise<void> {
  const number = /\d+/.exec(document)?.[0];
  const [all, runs] = await Promise.all([compilesOf(server, key), server.request<RunsOfProgram>('dynascope/runsOfProgram', { key })]);
  const own = all.find((each) => each.key === `compile:${number}`);
  const function_ = ({ label }: Row): string | undefined => label.split('/')[0]; // `[0/1] forward`
  const offered = (compiles: readonly Row[], of: string, run?: string): Item[] => {
    const isOfSame = (each: Row): boolean => own !== undefined && function_(each) === function_(own);
    const ordered = [...compiles.filter(isOfSame), ...compiles.filter((each) => !isOfSame(each))];
    return ordered.map(({ label, description, key: compile }) => ({
      label,
      description: [run, description].filter(Boolean).join('  '),
      key: of,
      compile: compile.replace('compile:', ''),
      ...(run !== undefined && { run }),
    }));
  };
  const others = (runs?.others ?? []).slice(0, RUNS);
  const ofOthers = await Promise.all(others.map(async (run) => offered(await compilesOf(server, run.key), run.key, run.name)));
  const sameBefore = ofOthers[0]?.find(({ label }) => label === own?.label);
  const items = [...offered(all.filter((each) => each !== own), key), ...ofOthers.flat()].filter((each) => each !== sameBefore);
  const placeHolder = vscode.l10n.t('The compile to compare with');
  const picked = await vscode.window.showQuickPick(sameBefore ? [sameBefore, ...items] : items, { placeHolder, matchOnDescription: true });
  if (!picked) return;
  const [left, right] = [{ key, document }, { key: picked.key, document: document.replace(/\d+/, picked.compile) }];
  const [leftFound, rightFound] = await Promise.all([left, right].map((each) => graphs(server, each)));
  if (!leftFound || !rightFound) {
    void vscode.window.showInformationMessage(GONE);
    return;
  }
  const named = (title: string, run: string | undefined): string => (picked.run && run ? `${title}: ${run}` : title);
  const [leftNamed, rightNamed] = [named(leftFound.title, runs?.name), named(rightFound.title, picked.run)];
  const [compared, comparedWith] = [{ ...left, other: { ...right, title: rightNamed } }, { ...right, other: { ...left, title: leftNamed } }];
  await loadPicture(server, extension, compared, { ...leftFound, title: leftNamed }, vscode.ViewColumn.Active);
  void loadPicture(server, extension, comparedWith, { ...rightFound, title: rightNamed }, vscode.ViewColumn.Beside);
}
