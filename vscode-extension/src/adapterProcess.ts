// The debug adapter as a child process. VS Code would start one itself but drop its stderr, which is logged here.
import type { DebugProtocol } from '@vscode/debugprotocol';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import * as vscode from 'vscode';
import { StreamMessageReader, StreamMessageWriter, type Message } from 'vscode-jsonrpc/node';
import { showFilters } from './debugging/exceptionFilters';
import type { Interpreter } from './environment/interpreter';
import { lastLine } from './environment/preflight';

/** Milliseconds that an adapter has to clean up after its stdin has closed. */
const GRACE_MS = 10_000;
const STDERR_KEPT = 4_000;

export type ReportFailure = (message: string) => void;

/** The adapter of one debug session: `python -m dynascope dap` over stdio. */
export class AdapterProcess implements vscode.DebugAdapter {
  private readonly sent = new vscode.EventEmitter<vscode.DebugProtocolMessage>();
  readonly onDidSendMessage = this.sent.event;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly writer: StreamMessageWriter;
  private readonly unanswered = new Map<number, DebugProtocol.Request>();
  private stderr = '';
  private isOver = false;
  private disposed = false;
  private hasEnded = false;

  constructor(
    interpreter: Interpreter,
    cwd: string | undefined,
    private readonly log: vscode.LogOutputChannel,
    private readonly reportFailure: ReportFailure,
  ) {
    const [executable, ...args] = interpreter.command;
    // -P: the adapter must not import a `types.py` or `dynascope.py` of the workspace.
    const command = [...args, '-P', '-m', 'dynascope', 'dap'];
    log.info(`starting ${[executable, ...command].join(' ')}${cwd ? ` in ${cwd}` : ''}`);
    this.child = spawn(executable, command, { cwd, windowsHide: true });
    const reader = new StreamMessageReader(this.child.stdout);
    reader.onError((error) => this.fail(vscode.l10n.t('The debug adapter wrote something that is not a message: {0}', error.message)));
    reader.listen((message) => this.fromAdapter(message as unknown as DebugProtocol.ProtocolMessage));
    this.writer = new StreamMessageWriter(this.child.stdin);
    this.child.stdin.on('error', (error) => log.debug(`adapter's stdin: ${error.message}`));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => this.fromStderr(text));
    this.child.on('error', (error) => this.fail(vscode.l10n.t('The debug adapter could not be started: {0}', error.message)));
    // 'close' is emitted after all of stdout and stderr has been read; 'exit' may be emitted earlier.
    this.child.on('close', (code, signal) => this.closed(code, signal));
  }

  handleMessage(message: vscode.DebugProtocolMessage): void {
    const request = message as DebugProtocol.Request;
    this.log.trace(`→ ${JSON.stringify(message)}`);
    if (request.type === 'request') this.unanswered.set(request.seq, request);
    if (request.command === 'disconnect') this.isOver = true; // the adapter answers and ends, and may send nothing more
    if (this.hasEnded) {
      this.answerAll(vscode.l10n.t('The debug adapter is not running.'));
      return;
    }
    this.writer.write(message as unknown as Message).catch((error: unknown) => this.log.debug(`write failed: ${String(error)}`));
  }

  dispose(): void {
    this.disposed = true;
    this.sent.dispose();
    this.child.stdin.end(); // end of input: the adapter ends what it launched, then itself
    const timer = setTimeout(() => this.child.kill('SIGKILL'), GRACE_MS);
    timer.unref();
    this.child.once('close', () => clearTimeout(timer));
  }

  private fromAdapter(message: DebugProtocol.ProtocolMessage): void {
    this.log.trace(`← ${JSON.stringify(message)}`);
    if (message.type === 'response') this.unanswered.delete((message as DebugProtocol.Response).request_seq);
    showFilters(message);
    if (message.type === 'event' && (message as DebugProtocol.Event).event === 'terminated') this.isOver = true;
    this.sent.fire(message);
  }

  private fromStderr(text: string): void {
    this.stderr = (this.stderr + text).slice(-STDERR_KEPT);
    for (const line of text.split('\n')) if (line.trim()) this.log.info(`[adapter] ${line}`);
  }

  private closed(code: number | null, signal: NodeJS.Signals | null): void {
    const how = signal ? vscode.l10n.t('was ended by {0}', signal) : vscode.l10n.t('ended with exit code {0}', code ?? vscode.l10n.t('unknown'));
    this.log.info(`the adapter ${how}`);
    if (this.disposed) return;
    if (this.isOver) {
      this.hasEnded = true;
      this.answerAll(vscode.l10n.t('The session is over.')); // requests sent just before the end
      return;
    }
    const last = lastLine(this.stderr);
    this.fail(last ? vscode.l10n.t('The debug adapter {0} before the session was over: {1}.', how, last) : vscode.l10n.t('The debug adapter {0} before the session was over.', how));
  }

  /** Ends the session in the editor: answers every open request, and shows the user the reason. */
  private fail(message: string): void {
    if (this.hasEnded || this.disposed) return;
    this.hasEnded = true;
    this.log.error(message);
    if (this.stderr.trim()) this.log.error(this.stderr.trim());
    this.reportFailure(message);
    this.answerAll(message);
    this.emit({ seq: 0, type: 'event', event: 'terminated', body: {} });
    this.child.kill();
  }

  private answerAll(message: string): void {
    for (const request of this.unanswered.values()) {
      this.emit({ seq: 0, type: 'response', request_seq: request.seq, command: request.command, success: false, message });
    }
    this.unanswered.clear();
  }

  private emit(message: DebugProtocol.Event | DebugProtocol.Response): void {
    this.sent.fire(message);
  }
}
