import { refuse } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/event-parts.ts';
import { type EventType, isRunnerEvent } from '../../../lib/event-types.ts';
import { type BlockRequests, block } from './block.ts';
import { type Change, draft, type EventDraft, unchanged } from './change.ts';
import { contextJsonOf, type ReportedContext } from './context.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { fail, finish, type RunLimits, reclaim, retry, type TurnError } from './finish.ts';
import { countOpenModelRequest } from './open-model-request.ts';
import { addUsage, type OpenModelRequest, type SessionState, type TurnState, type Usage } from './state.ts';
import { applyTransitions, type ToolCallTransition } from './tool-calls.ts';

/** Starts a queued turn under a new fence for the runner that has claimed it. */
export function start(
  state: SessionState,
  turn: TurnState,
  lease: { runnerId: string; now: Date; until: Date },
): Change {
  const change = unchanged(state);
  const fence = state.fence + 1;
  const attempt = turn.attempt + 1;
  const data = { turn_id: turn.turnId, attempt, fence };
  const trace = { turnId: turn.turnId, traceparent: turn.traceparent ?? undefined };
  change.drafts = [
    draft('turn.started', data, SYSTEM_ACTOR, trace),
    draft('session.status_running', data, SYSTEM_ACTOR, trace),
  ];
  change.head = {
    ...change.head,
    status: 'running',
    fence,
    currentTurnId: turn.turnId,
    queuedTurns: state.queuedTurns - 1,
  };
  change.turns = [
    {
      ...turn,
      status: 'in_progress',
      ready: false,
      attempt,
      fence,
      reportSeq: 0,
      runnerId: lease.runnerId,
      leaseUntil: lease.until,
      startedAt: turn.startedAt ?? lease.now,
    },
  ];
  return change;
}

export interface Report {
  turnId: string;
  fence: number;
  /** 1, 2, 3 … within a lease. */
  reportSeq: number;
  /** `eventId` is set for an event that another one names. */
  events: { type: string; dataJson: string; eventId?: string | undefined }[];
  /** The changes of tool calls that the events describe. */
  calls: readonly ToolCallTransition[];
  /** Of the data of the newest `agent.tools_offered` event of the report. Undefined without one. */
  toolsOfferedSha256?: string | undefined;
  /** Undefined when it has not changed since the last report. */
  context?: ReportedContext | undefined;
  openMessageId: string;
  usage: Usage;
  /** The model request that is unfinished behind the events. Null for none. */
  openModelRequest: OpenModelRequest | null;
  outcome: TurnOutcome | undefined;
}

export type TurnOutcome =
  | {
      kind: 'completed';
      stopReason: 'end_turn' | 'budget_reached' | 'max_steps_reached' | 'refused';
      /** JSON text of the structured output. Undefined for none. */
      outputJson?: string | undefined;
    }
  | { kind: 'failed'; error: TurnError }
  | {
      kind: 'retry';
      error: TurnError;
      delayMs: number;
      /** The turn blocks with these requests instead of failing when its retries are spent. */
      whenExhausted?: TurnBlock | undefined;
      /** The turn continues with this model instead of failing when its retries are spent. */
      fallbackModel?: string | undefined;
    }
  | ({ kind: 'blocked' } & TurnBlock);

export interface TurnBlock {
  requests: BlockRequests;
  expiresAt: Date;
}

/**
 * Appends a runner's report. Refuses with LEASE_LOST when the runner has lost the turn. A repeated report changes
 * nothing.
 */
export function report(state: SessionState, sent: Report, limits: RunLimits, now: Date): Change {
  const turn = state.current;
  if (!turn || turn.turnId !== sent.turnId || turn.fence !== sent.fence || turn.status !== 'in_progress') {
    throw refuse('LEASE_LOST', `Turn ${sent.turnId} is no longer leased with fence ${sent.fence}.`);
  }
  if (sent.reportSeq !== 0 && sent.reportSeq <= turn.reportSeq) return unchanged(state);
  const usage = addUsage(state.usage, sent.usage);
  const progressed = sent.events.some(({ type }) => PROGRESS.has(type));
  const startsStep = sent.events.some(({ type }) => type === 'model.request_started');
  const nextTurn: TurnState = {
    ...turn,
    ...(progressed ? { failures: 0, lastProgressAttempt: turn.attempt } : {}),
    ...(startsStep ? { stepAfter: state.lastSeq } : {}),
    calls: applyTransitions(turn.calls, sent.calls),
    reportSeq: sent.reportSeq,
    openMessageId: sent.openMessageId === '' ? null : sent.openMessageId,
    usage: addUsage(turn.usage, sent.usage),
    openModelRequest: sent.openModelRequest,
  };
  const drafts = draftsOf(state, nextTurn, sent.events);
  const { toolsOfferedSha256 = state.toolsOfferedSha256 } = sent;
  const contextJson = sent.context ? contextJsonOf(state, sent.context) : state.contextJson;
  const nextState: SessionState = { ...state, usage, toolsOfferedSha256, contextJson, current: nextTurn };
  const { outcome } = sent;
  if (!outcome) {
    const change = unchanged(nextState);
    return { ...change, drafts, turns: [nextTurn] };
  }
  const counted = countOpenModelRequest(nextState, nextTurn, now);
  const change = applyOutcome(counted.state, counted.turn, outcome, limits, now);
  return { ...change, drafts: [...drafts, ...counted.drafts, ...change.drafts] };
}

/** Events after which a retry of the turn starts from a later checkpoint. */
const PROGRESS = new Set(['agent.message', 'agent.tool_result']);

function applyOutcome(
  state: SessionState,
  turn: TurnState,
  outcome: TurnOutcome,
  limits: RunLimits,
  now: Date,
): Change {
  switch (outcome.kind) {
    case 'completed':
      return finish(
        state,
        { ...turn, outputJson: outcome.outputJson ?? null },
        { type: outcome.stopReason },
        now,
      );
    case 'failed':
      return fail(state, turn, outcome.error, 'terminal', now);
    case 'retry':
      // A runner that stops returns its turns, which does not count as a failure.
      if (outcome.error.code === 'runner_stopping')
        return reclaim(state, turn, outcome.error.code, limits, now);
      if (outcome.whenExhausted && turn.failures >= limits.maxFailures)
        return block(state, turn, outcome.whenExhausted.requests, outcome.whenExhausted.expiresAt);
      return retry(state, turn, outcome, limits, now);
    case 'blocked':
      return block(state, turn, outcome.requests, outcome.expiresAt);
  }
}

function draftsOf(state: SessionState, turn: TurnState, events: Report['events']): EventDraft[] {
  const actor: Actor = { type: 'agent', id: state.agentId };
  return events.map(({ type, dataJson, eventId }) => {
    if (!isRunnerEvent(type))
      throw refuse('INVALID_REQUEST', `A turn may not report the event type ${type}.`);
    return {
      type: type as EventType,
      dataJson,
      actor,
      turnId: turn.turnId,
      traceparent: turn.traceparent ?? undefined,
      ...(eventId !== undefined && { eventId }),
    };
  });
}
