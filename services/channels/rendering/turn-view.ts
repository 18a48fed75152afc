/** A turn as a conversation shows it, folded from the journal. */
export interface TurnView {
  turnId: string;
  /** The seq of turn.queued. */
  firstSeq: number;
  status: 'queued' | 'running' | 'blocked' | 'ended';
  /** Texts of model steps, oldest first. A discarded attempt is removed. */
  texts: { messageId: string; text: string }[];
  tools: ToolCallView[];
  approvals: ApprovalView[];
  /** Undefined while the turn goes on. */
  end: TurnEnd | undefined;
  /** Files below outbox/ by path, as the turn has left them. */
  files: Map<string, FileView>;
  /** The newest workspace version of its tool results. */
  workspaceVersion: number;
}

export interface ToolCallView {
  toolUseId: string;
  name: string;
  input: unknown;
  state: 'open' | 'done' | 'failed';
  /** tool_result: the client runs the tool. input: a person answers. Undefined: the service runs it. */
  kind: string | undefined;
}

export interface ApprovalView {
  approvalId: string;
  kind: string;
  toolName: string;
  toolUseIds: string[];
  /** The name of the server or model provider, its message, and the reason. */
  details: { name?: string; reason?: string; message?: string };
  /** Undefined: open. */
  decision: string | undefined;
  /** usr_…, or empty when the approval has expired. */
  decidedBy: string;
  /** The account with which the user has decided, such as slack:U123. Empty: elsewhere. */
  via: string;
}

export interface TurnEnd {
  status: 'completed' | 'failed' | 'interrupted' | 'cancelled';
  error: { code: string; message: string } | undefined;
  /** Known when the session becomes idle. */
  stopReason: string | undefined;
}

export interface FileView {
  path: string;
  sha256: string;
  size: number;
  version: number;
}

export function newTurn(turnId: string, firstSeq: number): TurnView {
  return {
    turnId,
    firstSeq,
    status: 'queued',
    texts: [],
    tools: [],
    approvals: [],
    end: undefined,
    files: new Map(),
    workspaceVersion: 0,
  };
}

/** Nothing is told about the turn before something happens. */
export function isAtRest({ status }: TurnView): boolean {
  return status === 'ended' || status === 'blocked';
}
