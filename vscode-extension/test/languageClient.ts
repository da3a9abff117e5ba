// Stands in for vscode-languageclient/node, which needs the editor's own module: a client that starts or fails as told.
export const CloseAction = { DoNotRestart: 1, Restart: 2 };
export const ErrorAction = { Continue: 1, Shutdown: 2 };

interface Feature {
  readonly fillClientCapabilities: (capabilities: Record<string, unknown>) => void;
}
interface Options {
  readonly documentSelector: Record<string, string>[];
  readonly middleware: { provideInlayHints: (...given: unknown[]) => unknown };
  readonly errorHandler: { closed: () => { action: number; handled?: boolean } };
}
interface Run {
  readonly command: string;
  readonly args: string[];
  readonly transport?: number;
}

/** Every client made, and why the next ones are to fail. */
export const clients: LanguageClient[] = [];
export const next = { failure: undefined as string | undefined, endsAtOnce: false };

export class LanguageClient {
  private running = false;
  readonly capabilities: Record<string, unknown> = {};
  readonly notified: string[] = [];
  readonly requested: unknown[] = [];
  readonly listeners = new Map<string, () => void>();
  readonly answers = new Map<string, (params: never) => Promise<unknown>>();
  hintsRefreshed = 0;
  constructor(
    readonly id: string,
    readonly name: string,
    readonly run: Run,
    readonly options: Options,
  ) {
    clients.push(this);
  }
  registerFeature(feature: Feature): void {
    feature.fillClientCapabilities(this.capabilities);
  }
  getFeature(): unknown {
    return { getProvider: () => ({ onDidChangeInlayHints: { fire: () => void (this.hintsRefreshed += 1) } }) };
  }
  isRunning(): boolean {
    return this.running;
  }
  sendNotification(type: string): Promise<void> {
    this.notified.push(type);
    return Promise.resolve();
  }
  onNotification(method: string, listener: () => void): void {
    this.listeners.set(method, listener);
  }
  onRequest(method: string, answer: (params: never) => Promise<unknown>): void {
    this.answers.set(method, answer);
  }
  sendRequest(method: string, params: unknown): Promise<unknown> {
    this.requested.push([method, params]);
    return Promise.resolve('answer');
  }
  start(): Promise<void> {
    if (next.failure !== undefined) return Promise.reject(new Error(next.failure));
    if (next.endsAtOnce) this.options.errorHandler.closed();
    else this.running = true;
    return Promise.resolve();
  }
  dispose(): Promise<void> {
    this.running = false;
    return Promise.resolve();
  }
  error(): void {
    // the real one would show a pop-up
  }
}
