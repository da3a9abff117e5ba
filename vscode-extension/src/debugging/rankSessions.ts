// Keeps which sessions are the ranks of a job, and which thread of each has stopped.
import type { DebugProtocol } from '@vscode/debugprotocol';
import * as vscode from 'vscode';
import type { Frame } from './rankStacks';

/** The name of the session of a rank: by the adapter for torchrun's, else given once the process has joined the others. */
const NAME = /^Rank (\d+) \(pid /;
const RESUMING = new Set(['continue', 'next', 'stepIn', 'stepOut', 'goto', 'stepBack', 'reverseContinue', 'restartFrame']);

/** A rank, and where it has stopped. */
export class Rank {
  /** The threads that are stopped, the latest last. */
  private stopped: number[] = [];
  private stops = 0;
  /** The requests that resume, by number, with the count of stops before them. */
  private readonly asked = new Map<number, { readonly threadId: number; readonly stops: number }>();
  private stack: Promise<unknown> | undefined;
  /** The frames of the thread, the outermost first; undefined where they are not known. */
  frames: readonly Frame[] | undefined;

  constructor(
    readonly session: vscode.DebugSession,
    private readonly changed: () => void,
  ) {}

  /** The thread that has stopped last of those that are stopped; undefined while the rank runs. */
  get threadId(): number | undefined {
    return this.stopped.at(-1);
  }

  /** Asks for the frames, once for each stop. */
  ask(): Promise<unknown> {
    return (this.stack ??= this.answer());
  }

  private async answer(): Promise<void> {
    const { stops, threadId } = this;
    try {
      const { stackFrames } = (await this.session.customRequest('stackTrace', { threadId })) as DebugProtocol.StackTraceResponse['body'];
      if (stops === this.stops && threadId === this.threadId) this.frames = [...stackFrames].reverse();
    } catch {
      this.stack = undefined; // the rank has gone on or ended meanwhile
    }
  }

  /** Hears a request of the editor. */
  request({ seq, command, arguments: given }: DebugProtocol.Request): void {
    if (RESUMING.has(command)) this.asked.set(seq, { threadId: (given as { threadId: number }).threadId, stops: this.stops });
  }

  /** Hears a response of the adapter. */
  response({ request_seq, success, body }: DebugProtocol.Response): void {
    const asked = this.asked.get(request_seq);
    this.asked.delete(request_seq);
    // a step may have ended before its response comes
    if (asked && success && asked.stops === this.stops) this.resumed(asked.threadId, (body as DebugProtocol.ContinueResponse['body'] | undefined)?.allThreadsContinued === false);
  }

  /** Hears an event of the adapter. */
  event({ event, body }: DebugProtocol.Event): void {
    if (event === 'stopped') {
      const { threadId } = body as DebugProtocol.StoppedEvent['body'];
      if (threadId === undefined) return;
      this.stops++;
      this.stopped = [...this.stopped.filter((each) => each !== threadId), threadId];
      this.moved();
    } else if (event === 'continued') {
      const { threadId, allThreadsContinued } = body as DebugProtocol.ContinuedEvent['body'];
      this.resumed(threadId, allThreadsContinued === false);
    }
  }

  private resumed(threadId: number, isAlone: boolean): void {
    if (!this.stopped.length) return;
    this.stopped = isAlone ? this.stopped.filter((each) => each !== threadId) : [];
    this.moved();
  }

  private moved(): void {
    [this.stack, this.frames] = [undefined, undefined];
    this.changed();
  }
}

/** The ranks of one job by their numbers. */
export type Job = ReadonlyMap<number, Rank>;

/** Keeps the ranks of all jobs by the session that has started them. */
export class Jobs {
  private readonly jobs = new Map<string, Map<number, Rank>>();

  constructor(private readonly changed: () => void) {}

  /** Whether a job has more ranks than one. */
  get haveSeveralRanks(): boolean {
    return [...this.jobs.values()].some(({ size }) => size > 1);
  }

  /** The job of the active session, else the first one. */
  get shown(): Job {
    const active = vscode.debug.activeDebugSession;
    return (active && this.jobs.get(rootOf(active).id)) ?? this.jobs.values().next().value ?? new Map<number, Rank>();
  }

  /** Follows the messages of a session that is, or becomes, a rank's; a rank's own children have its name, too. */
  readonly tracker = (session: vscode.DebugSession): vscode.DebugAdapterTracker | undefined => {
    if (!session.parentSession || NAME.test(session.parentSession.name)) return undefined;
    let joined: { readonly rank: Rank; readonly leave: () => void } | undefined;
    let number: number | undefined;
    const join = (rank: number): void => {
      joined?.leave();
      [number, joined] = [rank, this.join(session, rank)];
    };
    const named = NAME.exec(session.name)?.[1];
    if (named !== undefined) join(Number(named));
    const event = (message: DebugProtocol.Event): void => {
      if (message.event === 'dynascopeRank') {
        const { rank } = message.body as { readonly rank: number };
        if (rank === number) return; // the environment has said so
        session.name = `Rank ${rank} (pid ${session.configuration.subProcessId})`;
        join(rank);
      } else if (message.event === 'terminated') joined?.leave();
      else joined?.rank.event(message);
    };
    return {
      onWillReceiveMessage: (message: DebugProtocol.Request) => joined?.rank.request(message),
      onDidSendMessage(message: DebugProtocol.ProtocolMessage) {
        if (message.type === 'response') joined?.rank.response(message as DebugProtocol.Response);
        else if (message.type === 'event') event(message as DebugProtocol.Event);
      },
      onWillStopSession: () => joined?.leave(),
    };
  };

  private join(session: vscode.DebugSession, number: number): { readonly rank: Rank; readonly leave: () => void } {
    const { id } = rootOf(session);
    const job = this.jobs.get(id) ?? new Map<number, Rank>();
    const rank = new Rank(session, this.changed);
    this.jobs.set(id, job.set(number, rank));
    this.changed();
    const leave = (): void => {
      if (job.get(number) !== rank) return; // torchrun has started it anew
      job.delete(number);
      if (!job.size) this.jobs.delete(id);
      this.changed();
    };
    return { rank, leave };
  }
}

function rootOf(session: vscode.DebugSession): vscode.DebugSession {
  return session.parentSession ? rootOf(session.parentSession) : session;
}
