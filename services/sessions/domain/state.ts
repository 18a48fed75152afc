import type { StopReason } from '../../../lib/event-parts.ts';
import type { ApprovalKind, ClientCallKind } from '../../../lib/event-types.ts';

/** The state of a session, as read under the lock of its head. */
export interface SessionState {
  sessionId: string;
  ownerId: string;
  agentId: string;
  agentVersion: number;
  archived: boolean;
  deleted: boolean;
  lastSeq: number;
  /** Whether the session has a title. */
  hasTitle: boolean;
  /** JSON text of the overrides that hold for all turns. Null for none. */
  overridesJson: string | null;
  status: SessionStatus;
  stopReason: StopReason | null;
  queuedTurns: number;
  /** The queued turns wait until a user releases the queue. Only true while turns are queued and none is current. */
  queueHeld: boolean;
  fence: number;
  /** Changes of the session write signals, because a schedule or a channel uses it. */
  hasSignals: boolean;
  usage: Usage;
  /** Of the data of the newest `agent.tools_offered` event. Null without one. */
  toolsOfferedSha256: string | null;
  /** JSON text of the newest `ContextEstimate`. Null before the first model request. */
  contextJson: string | null;
  /** The turn that is in progress or blocked, if any. */
  current: TurnState | null;
  /** The first turn of the queue, if any. */
  next: QueuedTurn | null;
  /** Queued messages steer the current turn. */
  isSteered: boolean;
}

export type SessionStatus = 'idle' | 'pending' | 'running' | 'rescheduling' | 'terminated';
type TurnStatus = 'queued' | 'in_progress' | 'blocked' | 'completed' | 'failed' | 'interrupted' | 'cancelled';

export type TurnKind = 'answer' | 'compaction';

/** The mutable state of a turn. */
export interface TurnState {
  turnId: string;
  /** A compaction has no message and no answer. It never changes. */
  kind: TurnKind;
  /** The seq of the event that queued it. */
  position: number;
  status: TurnStatus;
  /** A runner may claim the turn: it is the first of the session's queue and not asleep. */
  ready: boolean;
  /** When the turn wakes up. Null when it is not asleep. */
  wakeAt: Date | null;
  attempt: number;
  /** The last attempt that made progress. Column `settled_attempt`. */
  lastProgressAttempt: number;
  /** Retryable failures since the last progress. */
  failures: number;
  /** The model with which the turn continues after a fallback. Null for the first model of the agent. */
  fallbackModel: string | null;
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
  /** The approval that the turn itself waits for. Null when it waits for none. */
  approval: TurnApproval | null;
  /** The journaled uses of credentials, as `<credential id> <host>`. */
  credentialUses: readonly string[];
  traceparent: string | null;
  usage: Usage;
  /** The model request of the runner. Null for none. */
  openModelRequest: OpenModelRequest | null;
  errorJson: string | null;
  /** JSON text of the overrides in force. Null for none. It never changes. */
  overridesJson: string | null;
  /** JSON text of the structured output. Null for none. */
  outputJson: string | null;
  startedAt: Date | null;
  finishedAt: Date | null;
}

/** A tool call that was journalled and has no result yet. */
export interface OpenCall {
  toolUseId: string;
  name: string;
  /** How often the call was dispatched to its tool. */
  dispatches: number;
  /** The newest approval of the call. */
  approval: CallApproval | null;
  /** The newest approval of kind `input` that was decided or has expired, also when another approval followed. */
  answerId?: string;
  /** Set for a call that the client answers. */
  client?: ClientCall;
}

/** A call of a tool that the service does not run. */
export interface ClientCall {
  kind: ClientCallKind;
  /** The `agent.tool_use` event. */
  eventId: string;
  /** The turn waits for the answer. */
  isAwaited: boolean;
  /** A user edited the input when the call was approved. */
  isEdited?: boolean;
}

export interface CallApproval {
  approvalId: string;
  kind: ApprovalKind;
  /** How often the call had been dispatched when the approval was requested. */
  dispatches: number;
  /** Null while the approval is pending. */
  decision: string | null;
  /** The `approval.requested` event. Absent in turns that an older release has blocked. */
  eventId?: string;
  /** Only of kind `authorization`: the approval before it, whose input the call keeps. */
  inputFrom?: string;
}

/** A pending approval of kind `authorization` that belongs to no tool call. A decision removes it. */
export interface TurnApproval {
  approvalId: string;
  /** The `approval.requested` event. */
  eventId: string;
}

export interface QueuedTurn {
  turnId: string;
  position: number;
}

export type FinalStatus = Extract<TurnStatus, 'completed' | 'failed' | 'interrupted' | 'cancelled'>;

export interface Usage {
  /** All input tokens, with cached and cache-written ones. */
  inputTokens: number;
  /** All output tokens, with those of reasoning. */
  outputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  reasoningTokens: number;
  /** A part of the tokens is estimated. */
  estimated: boolean;
  steps: number;
  toolCalls: number;
  activeMs: number;
}

/** A model request that no report has finished yet. */
export interface OpenModelRequest {
  /** The model name of the agent. */
  model: string;
  startedAt: Date;
  /** Estimated, up to the newest report. */
  usage: Usage;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  estimated: false,
  steps: 0,
  toolCalls: 0,
  activeMs: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    estimated: a.estimated || b.estimated,
    steps: a.steps + b.steps,
    toolCalls: a.toolCalls + b.toolCalls,
    activeMs: a.activeMs + b.activeMs,
  };
}
