// What the language server tells of recorded runs: the rows of the view, and what they lead to.
import * as vscode from 'vscode';

export const NOTHING_RECORDED = vscode.l10n.t('Nothing has been recorded here yet: run "Dynascope: Record Current File" first.');

/** What the view of runs, and what it opens, need of the language server. */
export interface FactsServer {
  /** Sends a request of Dynascope's own; undefined when no server runs. */
  request<T>(method: string, params: object): Promise<T | undefined>;
  /** Facts have changed, or the server has begun or ended. */
  readonly onDidChangeFacts: vscode.Event<void>;
}

/** A row as the server's request `dynascope/rows` lists it. */
export interface Row {
  readonly key: string;
  readonly label: string;
  readonly description?: string;
  readonly tooltip?: string;
  readonly icon?: string;
  readonly severity?: string;
  readonly place?: Place;
  readonly document?: RecordedDocument;
  /** The rows below it, where they are sent with it. */
  readonly children?: readonly Row[];
  /** Whether the rows below it must be asked for. */
  readonly isLazy?: boolean;
  readonly isOpen?: boolean;
  /** What is said of a run where there is little room. */
  readonly brief?: string;
}

/** A recorded line; `source` is the number of the content that it was recorded in. */
export interface Place {
  readonly path: string;
  readonly line: number;
  readonly source?: number;
}

/** What a row opens: what the server is asked for with, and the name of the editor. */
export interface RecordedDocument {
  readonly id: string;
  readonly name: string;
}
