import type { StopReason } from '../../../lib/events.ts';

/** What is true of a session while its row is locked. */
export interface SessionState {
  sessionId: string;
  ownerId: string;
  agentId: string;
  agentVersion: number;
  archived: boolean;
  deleted: boolean;
  lastSeq: number;
  /** Whether it has a name. */
  titled: boolean;
  status: SessionStatus;
  stopReason: StopReason | null;
  queuedTurns: number;
  fence: number;
  usage: Usage;
  /** The turn that is in progress or blocked. */
  current: TurnState | null;
  /** The turn at the head of the queue. */
  next: QueuedTurn | null;
}

export type SessionStatus = 'idle' | 'pending' | 'running' | 'rescheduling' | 'terminated';
export type TurnStatus =
  | 'queued'
  | 'in_progress'
  | 'blocked'
  | 'completed'
  | 'failed'
  | 'interrupted'
  | 'cancelled';

/** Everything of a turn that changes. */
export interface TurnState {
  turnId: string;
  /** The seq of the event that queued it. */
  position: number;
  status: TurnStatus;
  /** A runner may take it: it is the first in its session's queue, and not asleep. */
  ready: boolean;
  /** Asleep until then. */
  wakeAt: Date | null;
  attempt: number;
  /** The attempt in which it last got on. */
  settledAttempt: number;
  /** Failures that were worth another try, since it last got on. */
  failures: number;
  fence: number;
  reportSeq: number;
  runnerId: string | null;
  leaseUntil: Date | null;
  /** A message that has deltas but no end. */
  openMessageId: string | null;
  /** The seq before the report in which the current model step began. */
  stepAfter: number | null;
  /** Tool calls that have no result yet. */
  calls: readonly OpenCall[];
  traceparent: string | null;
  usage: Usage;
  errorJson: string | null;
  startedAt: Date | null;
  finishedAt: Date | null;
}

/** A tool call that was journalled and has no result yet. */
export interface OpenCall {
  toolUseId: string;
  name: string;
  /** How often it was sent to its tool. */
  dispatches: number;
  /** The newest question about it. */
  approval: CallApproval | null;
}

export interface CallApproval {
  approvalId: string;
  kind: ApprovalKind;
  /** How often the call had been sent to its tool when this was asked. */
  dispatches: number;
  /** Null as long as the turn waits for it. */
  decision: string | null;
}

export type ApprovalKind = 'tool' | 'outcome_unknown';

export interface QueuedTurn {
  turnId: string;
  position: number;
}

export type FinalStatus = Extract<TurnStatus, 'completed' | 'failed' | 'interrupted' | 'cancelled'>;

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  steps: number;
  toolCalls: number;
  activeMs: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, steps: 0, toolCalls: 0, activeMs: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    steps: a.steps + b.steps,
    toolCalls: a.toolCalls + b.toolCalls,
    activeMs: a.activeMs + b.activeMs,
  };
}
