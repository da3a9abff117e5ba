// The language client for `python -m dynascope lsp`, and a status item that shows why the server is not running.
import * as vscode from 'vscode';
import type { LanguageClient } from 'vscode-languageclient/node';
import { debugCommands } from './debugging/debugCommands';
import { onHintsChanged, provideInlayHints } from './debugging/hintsAtStops';
import { findInterpreter } from './environment/interpreter';
import { isProblem, preflight, stateOf } from './environment/preflight';
import { environmentWithTorch } from './environment/remedies';
import { showDocument } from './runs/reportPanel';

const SELECTOR: vscode.DocumentSelector = { language: 'python' };

/** The documents that are served: Python on disk (libraries too), not saved yet, and in cells of notebooks. */
const SERVED = [{ language: 'python', scheme: 'file' }, { language: 'python', scheme: 'untitled' }, { language: 'python', notebook: '*' }];

/** How often a server that ended by itself is started again, until the next `restart`. */
const RESTARTS = 2;

/** The context keys that the view's empty states depend on: `starting`, `running`, `off` or `failed`, and a kind of problem. */
const STATE = 'dynascope.languageServer';
const ENVIRONMENT = 'dynascope.environment';

/** A question of the server's, such as whether a program may run: a dialog, which does not go away by itself. */
interface Question {
  readonly question: string;
  readonly detail: string;
  readonly button: string;
}

/** Returns whether the user pressed the button. */
async function asked({ question, detail, button }: Question): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, button)) === button;
}

export class LanguageServer implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Facts have changed, or the server has begun or ended. */
  readonly onDidChangeFacts = this.changed.event;
  private readonly status = vscode.languages.createLanguageStatusItem('dynascope', SELECTOR);
  private client: LanguageClient | undefined;
  private readonly hints = onHintsChanged(() => this.refreshHints());
  private ended = 0;
  private environments = 0;
  private told = false;
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly log: vscode.LogOutputChannel) {
    this.status.name = 'Dynascope';
    this.status.command = { command: 'dynascope.showLog', title: vscode.l10n.t('Show Log') };
  }

  /** Starts the server, again with the current settings and interpreter. Calls are served one after another. */
  restart(): Promise<void> {
    this.turn = this.turn
      .then(() => this.stop())
      .then(() => this.start())
      .catch((error: unknown) => this.crashed(error instanceof Error ? error.message : String(error)));
    return this.turn;
  }

  /** Makes a running server read the settings again, after a change. */
  async settingsChanged(): Promise<void> {
    if (this.client?.isRunning()) await this.client.sendNotification('workspace/didChangeConfiguration', { settings: null });
  }

  /** Sends a request of Dynascope's own, once a server that is starting runs; undefined when none does. */
  async request<T>(method: string, params: object): Promise<T | undefined> {
    await this.turn;
    return this.client?.isRunning() ? this.client.sendRequest<T>(method, params) : undefined;
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    // A client that did not start throws when it is stopped.
    if (client?.isRunning()) await client.dispose();
  }

  dispose(): void {
    this.changed.dispose();
    this.hints.dispose();
    this.status.dispose();
  }

  private tell(state: string): void {
    void vscode.commands.executeCommand('setContext', STATE, state);
    this.changed.fire();
  }

  /** Lets the empty view say what the environment lacks, and what helps; other environments may take a while to answer. */
  private async tellEnvironment(state: ReturnType<typeof stateOf>): Promise<void> {
    const turn = (this.environments += 1);
    const tell = (value: string): void => void (turn === this.environments && vscode.commands.executeCommand('setContext', ENVIRONMENT, value));
    tell(state);
    if (state === 'noTorch' && (await environmentWithTorch())) tell('torchElsewhere');
  }

  private refreshHints(): void {
    if (!this.client?.isRunning()) return;
    const feature = this.client.getFeature('textDocument/inlayHint');
    for (const { document } of vscode.window.visibleTextEditors) feature.getProvider(document)?.onDidChangeInlayHints.fire();
  }

  private async start(): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0];
    if (!vscode.workspace.isTrusted) {
      this.show(vscode.l10n.t('off until the workspace is trusted'));
      return;
    }
    if (!vscode.workspace.getConfiguration('dynascope').get<boolean>('languageServer.enabled', true)) {
      this.show(vscode.l10n.t('off ({0})', 'dynascope.languageServer.enabled'));
      return;
    }
    this.status.busy = true;
    void vscode.commands.executeCommand('setContext', STATE, 'starting');
    const interpreter = await findInterpreter(folder?.uri);
    const outcome = await preflight(interpreter, folder?.uri.fsPath);
    void this.tellEnvironment(stateOf(outcome));
    if (isProblem(outcome)) {
      this.log.warn(`language server: ${outcome.detail}`);
      this.failed(outcome.message);
      return;
    }
    const { CloseAction, ErrorAction, QuietClient } = await import('./languageClient');
    const [command, ...args] = interpreter.command;
    // Without `transport` the client uses stdio and adds no `--stdio` to the arguments.
    const run = { command, args: [...args, '-P', '-m', 'dynascope', 'lsp'] };
    this.client = new QuietClient('dynascope', 'Dynascope', run, {
      documentSelector: SERVED,
      outputChannel: this.log,
      middleware: { window: { showDocument }, provideInlayHints },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          this.ended += 1;
          if (this.ended <= RESTARTS && this.client?.isRunning()) return { action: CloseAction.Restart, handled: true };
          this.crashed(vscode.l10n.t('the server ended by itself'));
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    });
    this.client.registerFeature(debugCommands);
    this.client.onNotification('dynascope/factsChanged', () => this.changed.fire());
    this.client.onRequest('dynascope/ask', asked);
    this.ended = 0;
    await this.client.start();
    // `start` also resolves when the server ended before it answered; `closed` has reported that.
    if (this.client.isRunning()) this.show(vscode.l10n.t('running'), 'running');
  }

  private show(text: string, state = 'off'): void {
    this.status.busy = false;
    this.status.severity = vscode.LanguageStatusSeverity.Information;
    this.status.text = `Dynascope: ${text}`;
    this.status.detail = '';
    this.tell(state);
  }

  /** Reports, once, that the server does not run although the interpreter can run it. */
  private crashed(why: string): void {
    void this.tellEnvironment('ready');
    this.failed(why);
    if (this.told) return;
    this.told = true;
    const show = vscode.l10n.t('Show Log');
    void vscode.window.showWarningMessage(vscode.l10n.t('The Dynascope language server is not running: {0}. Debugging works without it.', why), show).then((picked) => {
      if (picked === show) this.log.show();
    });
  }

  /** Shows the failure in the language status only: a user who opens a Python file may not use Dynascope. */
  private failed(why: string): void {
    this.status.busy = false;
    this.status.severity = vscode.LanguageStatusSeverity.Warning;
    this.status.text = vscode.l10n.t('Dynascope: language server not running');
    this.status.detail = why;
    this.log.warn(`language server: ${why}`);
    this.tell('failed');
  }
}
