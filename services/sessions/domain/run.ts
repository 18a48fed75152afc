import { refuse } from '../../../lib/errors.ts';
import { type Actor, type EventType, isRunnerEvent } from '../../../lib/events.ts';
import { type Ask, block } from './ask.ts';
import { SYSTEM } from './begin.ts';
import { type CallStep, carryOn } from './calls.ts';
import { type Change, type Draft, draft, unchanged } from './change.ts';
import { type Failure, fail, finish, type RunLimits, reclaim, retry } from './finish.ts';
import { addUsage, type SessionState, type TurnState, type Usage } from './state.ts';

/** A runner takes a queued turn: it is in progress under a new fence from here on. */
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
    draft('turn.started', data, SYSTEM, trace),
    draft('session.status_running', data, SYSTEM, trace),
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
  events: { type: string; dataJson: string }[];
  /** What the events say of tool calls. */
  calls: readonly CallStep[];
  openMessageId: string;
  usage: Usage;
  outcome: Outcome | undefined;
}

export type Outcome =
  | { kind: 'completed'; stopReason: 'end_turn' | 'budget_reached' | 'max_steps_reached' | 'refused' }
  | { kind: 'failed'; error: Failure }
  | { kind: 'retry'; error: Failure; delayMs: number }
  | { kind: 'blocked'; asks: Ask[]; expiresAt: Date };

/** Appends what a turn has done, if it is still the reporter's turn. A repeated report changes nothing. */
export function report(state: SessionState, sent: Report, limits: RunLimits, now: Date): Change {
  const turn = state.current;
  if (!turn || turn.turnId !== sent.turnId || turn.fence !== sent.fence || turn.status !== 'in_progress') {
    throw refuse('LEASE_LOST', `turn ${sent.turnId} is no longer held under fence ${sent.fence}`);
  }
  if (sent.reportSeq !== 0 && sent.reportSeq <= turn.reportSeq) return unchanged(state);
  const usage = addUsage(state.usage, sent.usage);
  const gotOn = sent.events.some(({ type }) => PROGRESS.has(type));
  const stepBegins = sent.events.some(({ type }) => type === 'model.request_started');
  const after: TurnState = {
    ...turn,
    ...(gotOn ? { failures: 0, settledAttempt: turn.attempt } : {}),
    ...(stepBegins ? { stepAfter: state.lastSeq } : {}),
    calls: carryOn(turn.calls, sent.calls),
    reportSeq: sent.reportSeq,
    openMessageId: sent.openMessageId === '' ? null : sent.openMessageId,
    usage: addUsage(turn.usage, sent.usage),
  };
  const drafts = draftsOf(state, after, sent.events);
  const reached: SessionState = { ...state, usage, current: after };
  const { outcome } = sent;
  if (!outcome) {
    const change = unchanged(reached);
    return { ...change, drafts, turns: [after] };
  }
  const change = conclude(reached, after, outcome, limits, now);
  return { ...change, drafts: [...drafts, ...change.drafts] };
}

/** After these a turn that is begun again does not begin where it began before. */
const PROGRESS = new Set(['agent.message', 'agent.tool_result']);

function conclude(
  state: SessionState,
  turn: TurnState,
  outcome: Outcome,
  limits: RunLimits,
  now: Date,
): Change {
  switch (outcome.kind) {
    case 'completed':
      return finish(state, turn, { type: outcome.stopReason }, now);
    case 'failed':
      return fail(state, turn, outcome.error, 'terminal', now);
    case 'retry':
      // A runner that stops gives its turns back; that is nobody's failure.
      if (outcome.error.code === 'runner_stopping')
        return reclaim(state, turn, outcome.error.code, limits, now);
      return retry(state, turn, outcome, limits, now);
    case 'blocked':
      return block(state, turn, outcome.asks, outcome.expiresAt);
  }
}

function draftsOf(state: SessionState, turn: TurnState, events: Report['events']): Draft[] {
  const actor: Actor = { type: 'agent', id: state.agentId };
  return events.map(({ type, dataJson }) => {
    if (!isRunnerEvent(type)) throw refuse('INVALID_REQUEST', `a turn may not report ${type}`);
    return {
      type: type as EventType,
      dataJson,
      actor,
      turnId: turn.turnId,
      traceparent: turn.traceparent ?? undefined,
    };
  });
}
