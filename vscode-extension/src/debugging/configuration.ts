// Launch configurations: the one that F5 uses without a launch.json, and default values.
import { parse } from 'dotenv';
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { findInterpreter, fromConfiguration, type Interpreter } from '../environment/interpreter';
import { isProblem, preflight, type Problem } from '../environment/preflight';

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

/** The configurations that "Run and Debug" offers without a launch.json. */
export const offered: vscode.DebugConfigurationProvider = {
  provideDebugConfigurations: () => [{ ...CURRENT_FILE }, { ...COMPILE_TIME_ONLY }],
};

/** Shows the user a problem of a resource's interpreter and offers help; `again` does what was asked for once it is gone. */
export type ReportProblem = (problem: Problem, again: () => unknown, resource?: vscode.Uri) => void;

export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  /** The last configuration before variables were replaced, such as the path of an interpreter. */
  private asked: vscode.DebugConfiguration | undefined;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly reportProblem: ReportProblem,
  ) {}

  /** Called before variables such as ${file} are replaced. F5 without a launch.json gives an empty configuration. */
  resolveDebugConfiguration(
    folder: vscode.WorkspaceFolder | undefined,
    given: vscode.DebugConfiguration,
  ): vscode.ProviderResult<vscode.DebugConfiguration> {
    const { type, request } = given as Partial<vscode.DebugConfiguration>;
    const empty = !type && !request;
    if (empty && vscode.window.activeTextEditor?.document.languageId !== 'python') {
      void vscode.window.showInformationMessage(vscode.l10n.t('Open the Python file to debug, then press F5.'));
      return undefined;
    }
    this.asked = given;
    const configuration: vscode.DebugConfiguration = empty ? { ...given, ...CURRENT_FILE } : { ...given };
    if (configuration.request !== 'launch') return configuration;
    if (!configuration['program'] && !configuration['module'] && !configuration['code']) configuration['program'] = '${file}';
    configuration['console'] ??= 'integratedTerminal';
    configuration['cwd'] ??= folder || vscode.workspace.workspaceFolders?.length === 1 ? '${workspaceFolder}' : '${fileDirname}';
    return configuration;
  }

  /** Called after variables are replaced: chooses the interpreter, and reports why if it cannot run the adapter. */
  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    configuration: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (isChild(configuration)) return configuration;
    const interpreter = await interpreterOf(configuration, folder);
    this.log.info(`interpreter: ${interpreter.command.join(' ')} (from ${interpreter.origin})`);
    const cwd = folder?.uri.fsPath;
    const asked = this.asked ?? configuration;
    const again = (): unknown => vscode.debug.startDebugging(folder, asked.type ? asked : { ...CURRENT_FILE });
    const outcome = await preflight(interpreter, cwd, configuration.request === 'launch');
    if (isProblem(outcome)) {
      this.reportProblem(outcome, again, folder?.uri);
      return undefined;
    }
    this.log.info(`Python ${outcome.python}, dynascope ${outcome.version || '(from a source tree)'}`);
    if (configuration.request !== 'launch') return configuration;
    const problem = readEnvFile(configuration);
    if (problem) {
      this.reportProblem(problem, again, folder?.uri);
      return undefined;
    }
    return { ...configuration, python: [...interpreter.command] };
  }
}

/** Whether the adapter requested this session (`startDebugging`), for a child process or rank of a checked session. */
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

/** Merges `envFile` into `env`, which takes precedence, as in the Python extension: debugpy has no envFile. */
function readEnvFile(configuration: vscode.DebugConfiguration): Problem | undefined {
  const file: unknown = configuration['envFile'];
  delete configuration['envFile'];
  if (typeof file !== 'string' || file === '') return undefined;
  if (!fs.existsSync(file)) {
    // Configurations often contain ${workspaceFolder}/.env although there is no such file.
    if (path.basename(file) === '.env') return undefined;
    const message = vscode.l10n.t('The envFile of the launch configuration does not exist: {0}. Correct it in launch.json.', file);
    return { message, detail: message };
  }
  const fromFile: Record<string, string> = parse(fs.readFileSync(file));
  configuration['env'] = { ...fromFile, ...(configuration['env'] as Record<string, string> | undefined) };
  return undefined;
}
