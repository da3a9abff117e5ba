// Launch configurations: what F5 means without one, and the defaults that launch.json may leave out.
import { parse } from 'dotenv';
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { findInterpreter, fromConfiguration, type Interpreter } from './interpreter';
import { isProblem, preflight, type Problem } from './preflight';

export const DEBUG_TYPE = 'dynascope';

export const CURRENT_FILE: Readonly<vscode.DebugConfiguration> = {
  name: 'Dynascope: Current File',
  type: DEBUG_TYPE,
  request: 'launch',
  program: '${file}',
  console: 'integratedTerminal',
};

const COMPILE_TIME_ONLY: Readonly<vscode.DebugConfiguration> = {
  ...CURRENT_FILE,
  name: 'Dynascope: Compile Time Only',
  runtime: false,
};

/** What "Run and Debug" offers without a launch.json. */
export const offered: vscode.DebugConfigurationProvider = {
  provideDebugConfigurations: () => [{ ...CURRENT_FILE }, { ...COMPILE_TIME_ONLY }],
};

/** Tells the user what is wrong and offers what helps. */
export type ReportProblem = (problem: Problem) => void;

export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly reportProblem: ReportProblem,
  ) {}

  /** Before variables such as ${file} are replaced. An empty configuration is F5 without a launch.json. */
  resolveDebugConfiguration(
    folder: vscode.WorkspaceFolder | undefined,
    given: vscode.DebugConfiguration,
  ): vscode.ProviderResult<vscode.DebugConfiguration> {
    const { type, request } = given as Partial<vscode.DebugConfiguration>;
    const empty = !type && !request;
    if (empty && vscode.window.activeTextEditor?.document.languageId !== 'python') {
      void vscode.window.showInformationMessage('Open the Python file to debug, then press F5.');
      return undefined;
    }
    const configuration: vscode.DebugConfiguration = empty ? { ...given, ...CURRENT_FILE } : { ...given };
    if (configuration.request !== 'launch') return configuration;
    if (!configuration['program'] && !configuration['module'] && !configuration['code']) configuration['program'] = '${file}';
    configuration['console'] ??= 'integratedTerminal';
    configuration['cwd'] ??= folder || vscode.workspace.workspaceFolders?.length === 1 ? '${workspaceFolder}' : '${fileDirname}';
    return configuration;
  }

  /** After variables are replaced: choose the interpreter, and stop here, with the reason, when it cannot run the adapter. */
  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (isChild(configuration)) return configuration;
    const interpreter = await interpreterOf(configuration, folder);
    this.log.info(`interpreter: ${interpreter.command.join(' ')} (from ${interpreter.origin})`);
    const cwd = folder?.uri.fsPath;
    const outcome = await preflight(interpreter, cwd);
    if (isProblem(outcome)) {
      this.reportProblem(outcome);
      return undefined;
    }
    this.log.info(`Python ${outcome.python}, dynascope ${outcome.version || '(from a source tree)'}`);
    if (configuration.request !== 'launch') return configuration;
    const problem = readEnvFile(configuration);
    if (problem) {
      this.reportProblem(problem);
      return undefined;
    }
    return { ...configuration, python: [...interpreter.command] };
  }
}

/** A session that the adapter itself asked for (`startDebugging`): a subprocess or a rank of a session already checked. */
export function isChild(configuration: vscode.DebugConfiguration): boolean {
  return 'subProcessId' in configuration;
}

export async function interpreterOf(
  configuration: vscode.DebugConfiguration,
  folder: vscode.WorkspaceFolder | undefined,
): Promise<Interpreter> {
  const python: unknown = configuration['python'] ?? configuration['pythonPath'];
  const named = fromConfiguration(python);
  if (named) return named;
  const program: unknown = configuration['program'];
  const resource = folder?.uri ?? (typeof program === 'string' ? vscode.Uri.file(program) : undefined);
  return findInterpreter(resource);
}

/** Merge `envFile` below `env`, as the Python extension does: debugpy knows no envFile. */
function readEnvFile(configuration: vscode.DebugConfiguration): Problem | undefined {
  const file: unknown = configuration['envFile'];
  delete configuration['envFile'];
  if (typeof file !== 'string' || file === '') return undefined;
  if (!fs.existsSync(file)) {
    // The customary ${workspaceFolder}/.env is often written without the file being there.
    if (path.basename(file) === '.env') return undefined;
    const message = `The envFile of the launch configuration does not exist: ${file}. Correct it in launch.json.`;
    return { message, detail: message };
  }
  const fromFile: Record<string, string> = parse(fs.readFileSync(file));
  configuration['env'] = { ...fromFile, ...(configuration['env'] as Record<string, string> | undefined) };
  return undefined;
}
