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
import { LanguageServer } from './languageServer';
import { lineTimes } from './runs/lineTimes';
import { missedStops } from './debugging/missedStops';
import { pickProcess } from './debugging/pickProcess';
import { findInterpreter, onInterpreterChanged } from './environment/interpreter';
import { isProblem, preflight, type Problem } from './environment/preflight';
import { remedies, type Remedy } from './environment/remedies';
import { ranks } from './debugging/ranks';
import { recordFile } from './runs/recordFile';
import { openSample, showSample } from './environment/sample';
import { stopText } from './debugging/stopText';
import { threadCommands } from './debugging/threadCommands';
import { timeline } from './debugging/timeline';

let languageServer: LanguageServer | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Dynascope', { log: true });
  const report = async (problem: Problem, again: () => unknown, resource?: vscode.Uri): Promise<void> => {
    log.error(problem.detail);
    const offered = await remedies(problem, context.extensionUri, resource);
    const picked = await offerHelp(problem.message, log, offered.map(({ title }) => title));
    if (await offered.find(({ title }) => title === picked)?.run()) {
      void server.restart();
      await again();
    }
  };
  /** Runs the remedy of this kind for what the chosen interpreter lacks. */
  const mend = async (kind: Remedy['kind']): Promise<void> => {
    if (!vscode.workspace.isTrusted) return;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const interpreter = await findInterpreter(folder);
    const outcome = await preflight(interpreter, folder?.fsPath, true);
    if (!isProblem(outcome)) {
      void vscode.window.showInformationMessage(vscode.l10n.t('torch {0} and dynascope are installed in {1}.', outcome.torch, interpreter.command[0]));
      await server.restart(); // it was installed by hand
      return;
    }
    const remedy = (await remedies(outcome, context.extensionUri)).find((each) => each.kind === kind);
    if (!remedy) void report(outcome, () => undefined);
    else if (await remedy.run()) await server.restart();
  };
  const provider = new ConfigurationProvider(log, (...given) => void report(...given));
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
        const failed = (message: string): void => void helpWith(message, log);
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
    vscode.commands.registerCommand('dynascope.recordFile', recordFile((...given) => void report(...given), runs)),
    vscode.debug.onDidTerminateDebugSession(({ type, configuration }) => {
      if (type === DEBUG_TYPE && configuration.noDebug === true && configuration.record !== false) void runs.show();
    }),
    ...Object.entries(DEBUG_COMMANDS).map(([name, run]) => vscode.commands.registerCommand(name, run)),
    ...threadCommands(),
    ...timeline(),
    ...ranks(),
    ...comparison(),
    ...lineTimes(),
    ...runs.disposables,
    ...formLinks(server),
    ...agents((context.extension.packageJSON as { readonly version: string }).version),
    vscode.commands.registerCommand('dynascope.showLog', () => log.show()),
    vscode.commands.registerCommand('dynascope.chooseInterpreter', () => chooseInterpreter()),
    vscode.commands.registerCommand('dynascope.useEnvironmentWithTorch', () => mend('environment')),
    vscode.commands.registerCommand('dynascope.installPackage', () => mend('package')),
    vscode.commands.registerCommand('dynascope.openWalkthrough', () => vscode.commands.executeCommand('workbench.action.openWalkthrough', `${context.extension.id}#start`)),
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
  void onInterpreterChanged(() => void server.restart()).then((listener) => listener && context.subscriptions.push(listener));
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

/** Shows an error with buttons, and returns the one that was pressed. */
async function offerHelp(message: string, log: vscode.LogOutputChannel, buttons: readonly string[]): Promise<string | undefined> {
  const show = vscode.l10n.t('Show Log');
  const picked = await vscode.window.showErrorMessage(message, ...buttons, show);
  if (picked === show) log.show();
  return picked;
}

async function helpWith(message: string, log: vscode.LogOutputChannel): Promise<void> {
  const choose = vscode.l10n.t('Choose Interpreter');
  if ((await offerHelp(message, log, [choose])) === choose) await chooseInterpreter();
}
