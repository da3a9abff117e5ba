// Show Compile Times: colours each line by the time Dynamo took to trace it, and writes that time after it.
import * as vscode from 'vscode';

/** What the language server's command `dynascope.lineTimes` returns for each line: seconds. */
export interface LineTime {
  readonly line: number;
  readonly own: number;
  readonly calls: number;
}

const LEVELS = 5;

/** How much of the longest line's time each line took: 0 (a fifth or less) to 4. */
export function levels(times: readonly LineTime[]): number[] {
  const longest = Math.max(...times.map(total));
  return times.map((time) => Math.min(LEVELS - 1, Math.floor((total(time) / longest) * LEVELS)));
}

/** `12 ms`, or `1.2 s, 1.1 s of it in calls`. */
export function text(time: LineTime): string {
  const calls = time.calls > 0.1 * total(time) ? vscode.l10n.t(', {0} of it in calls', seconds(time.calls)) : '';
  return `${seconds(total(time))}${calls}`;
}

/** Registers the command that switches the colours on and off. */
export function lineTimes(): vscode.Disposable[] {
  const styles = Array.from({ length: LEVELS }, (_, level) => style((level + 1) / LEVELS));
  let isOn = false;

  async function show(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    const times = isOn && document.languageId === 'python' ? await ask(document.uri) : [];
    const chosen = levels(times);
    styles.forEach((each, level) => editor.setDecorations(each, times.filter((_, i) => chosen[i] === level).map((time) => decoration(document, time))));
  }

  async function showAll(): Promise<void> {
    await Promise.all(vscode.window.visibleTextEditors.map(show));
  }

  async function toggle(): Promise<void> {
    isOn = !isOn;
    await showAll();
    const editor = vscode.window.activeTextEditor;
    if (isOn && editor && (await ask(editor.document.uri)).length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('Dynascope has no tracing time of 0.5 ms or more for a line of this file. To record the file, run "Dynascope: Record Current File".'));
    }
  }

  return [
    ...styles,
    vscode.commands.registerCommand('dynascope.toggleLineTimes', toggle),
    vscode.window.onDidChangeVisibleTextEditors(() => isOn && void showAll()),
    vscode.debug.onDidTerminateDebugSession(() => isOn && void showAll()),
    vscode.workspace.onDidSaveTextDocument(() => isOn && void showAll()),
  ];
}

async function ask(uri: vscode.Uri): Promise<readonly LineTime[]> {
  const known = await vscode.commands.getCommands(true);
  if (!known.includes('dynascope.lineTimes')) return [];
  return (await vscode.commands.executeCommand<LineTime[] | null>('dynascope.lineTimes', { uri: uri.toString() })) ?? [];
}

function decoration(document: vscode.TextDocument, time: LineTime): vscode.DecorationOptions {
  const line = Math.min(time.line, document.lineCount) - 1;
  return { range: document.lineAt(line).range, renderOptions: { after: { contentText: `  ${text(time)}` } } };
}

function style(share: number): vscode.TextEditorDecorationType {
  const background = `rgba(255, 120, 0, ${(0.3 * share).toFixed(2)})`;
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: background,
    overviewRulerColor: background,
    after: { color: new vscode.ThemeColor('editorCodeLens.foreground'), fontStyle: 'italic' },
  });
}

function total(time: LineTime): number {
  return time.own + time.calls;
}

function seconds(time: number): string {
  return time >= 1 ? `${time.toFixed(1)} s` : `${Math.max(1, Math.round(time * 1000))} ms`;
}
