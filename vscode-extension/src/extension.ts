// Entry point: registers the debug type, the commands and the language server. Adapters are started when they are used.
import * as vscode from 'vscode';
import { ConfigurationProvider, CURRENT_FILE, DEBUG_TYPE, interpreterOf, offered } from './debugging/configuration';
import { DEBUG_COMMANDS } from './debugging/debugCommands';
import { hintsAtStops } from './debugging/hintsAtStops';
import { agents } from './environment/agents';
import { comparison } from './debugging/comparison';
import { formLinks } from './runs/formLinks';
import { chooseInterpreter } from './environment/chooseInterpreter';
import { explorer } from './runs/explorer';
import { chooseFilters, declared } from './debugging/exceptionFilters';
import { firstStop } from './debugging/firstStop';
import { bundled, install } from './environment/install';
import { LanguageServer } from './languageServer';
import { lineTimes } from './runs/lineTimes';
import { missedStops } from './debugging/missedStops';
import { pickProcess } from './debugging/pickProcess';
import type { Problem } from './environment/preflight';
import { recordFile } from './runs/recordFile';
import { openSample, showSample } from './environment/sample';
import { stopText } from './debugging/stopText';
import { threadCommands } from './debugging/threadCommands';
import { timeline } from './debugging/timeline';

let languageServer: LanguageServer | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Dynascope', { log: true });
  const report = (problem: Problem): void => {
    log.error(problem.detail);
    const pip = problem.install;
    const installed = async (): Promise<void> => {
      if (!pip || !(await install(pip, bundled(context.extensionUri)))) return;
      await server.restart();
      void vscode.window.showInformationMessage(vscode.l10n.t('dynascope is installed in {0}. Start again.', pip[0] ?? ''));
    };
    void offerHelp(problem.message, log, pip && installed);
  };
  const provider = new ConfigurationProvider(log, report);
  const server = (languageServer = new LanguageServer(log));
  const runs = explorer(server, context.workspaceState, context.extensionUri);

  context.subscriptions.push(
    log,
    server,
    vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, provider),
    vscode.debug.registerDebugConfigurationProvider(DEBUG_TYPE, offered, vscode.DebugConfigurationProviderTriggerKind.Dynamic),
    vscode.debug.registerDebugAdapterDescriptorFactory(DEBUG_TYPE, {
      async createDebugAdapterDescriptor(session) {
        const python: unknown = session.configuration['python'] ?? session.parentSession?.configuration['python'];
        const interpreter = await interpreterOf({ ...session.configuration, python }, session.workspaceFolder);
        const failed = (message: string): void => void offerHelp(message, log);
        const { AdapterProcess } = await import('./adapterProcess'); // a bundle of its own, as that of the language client
        const adapter = new AdapterProcess(interpreter, session.workspaceFolder?.uri.fsPath, log, failed);
        return new vscode.DebugAdapterInlineImplementation(adapter);
      },
    }),
    vscode.debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, stopText),
    vscode.debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, missedStops),
    vscode.debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, hintsAtStops),
    vscode.debug.registerDebugAdapterTrackerFactory(DEBUG_TYPE, firstStop(context.globalState)),
    vscode.commands.registerCommand('dynascope.debugFile', debugFile),
    vscode.commands.registerCommand('dynascope.recordFile', recordFile(report, runs.show)),
    vscode.debug.onDidTerminateDebugSession(({ type, configuration }) => {
      if (type === DEBUG_TYPE && configuration.noDebug === true && configuration.record !== false) void runs.show();
    }),
    ...Object.entries(DEBUG_COMMANDS).map(([name, run]) => vscode.commands.registerCommand(name, run)),
    ...threadCommands(),
    ...timeline(),
    ...comparison(),
    ...lineTimes(),
    ...runs.disposables,
    ...formLinks(),
    ...agents((context.extension.packageJSON as { readonly version: string }).version),
    vscode.commands.registerCommand('dynascope.showLog', () => log.show()),
    vscode.commands.registerCommand('dynascope.chooseInterpreter', chooseInterpreter),
    vscode.commands.registerCommand('dynascope.moreFilters', chooseFilters(declared(context.extension))),
    vscode.commands.registerCommand('dynascope.openSample', openSample(context)),
    vscode.commands.registerCommand('dynascope.pickProcess', pickProcess),
    vscode.commands.registerCommand('dynascope.restartLanguageServer', () => server.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('dynascope.python') || change.affectsConfiguration('dynascope.languageServer.enabled')) {
        void server.restart();
      } else if (change.affectsConfiguration('dynascope.languageServer')) {
        void server.settingsChanged();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void server.restart()),
  );
  void server.restart();
  void showSample(context);
}

export async function deactivate(): Promise<void> {
  await languageServer?.stop();
}

async function debugFile(resource?: vscode.Uri): Promise<void> {
  const file = resource ?? vscode.window.activeTextEditor?.document.uri;
  if (!file) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Open the Python file to debug first.'));
    return;
  }
  const program = file.scheme === 'file' ? file.fsPath : '${file}';
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(file), { ...CURRENT_FILE, program });
}

async function offerHelp(message: string, log: vscode.LogOutputChannel, installed?: () => Promise<void>): Promise<void> {
  const get = vscode.l10n.t('Install');
  const choose = vscode.l10n.t('Choose Interpreter');
  const show = vscode.l10n.t('Show Log');
  const picked = await vscode.window.showErrorMessage(message, ...(installed ? [get] : []), choose, show);
  if (picked === get) await installed?.();
  if (picked === show) log.show();
  if (picked === choose) await vscode.commands.executeCommand('dynascope.chooseInterpreter');
}
