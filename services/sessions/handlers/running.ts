import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { parseTraceparent } from '../../../lib/trace.ts';
import type {
  ClaimedTurn,
  ReportResult,
  SessionsServiceDefinition,
  TurnReport,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type Outcome, type Report, report } from '../domain/run.ts';
import { NO_USAGE } from '../domain/state.ts';
import type { Decide } from '../store/changes.ts';
import type { HandlerContext } from './context.ts';
import { oneLine } from './json.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'claimTurns' | 'renewLeases' | 'reportTurns'>;

const MAX_SLOTS = 1_000;
/** Messages that go out with the turns of one claim: what does not fit is read by the runner. */
const CLAIM_BYTES = 4 * 1024 * 1024;
const CLAIM_BYTES_EACH = 256 * 1024;
const CLAIM_ROWS_EACH = 200;

/** The other side of the runner: it claims turns, keeps their leases and reports what they do. */
export function runningHandlers({
  clock,
  changes,
  claims,
  events,
  limits,
  leaseMs,
}: HandlerContext): Methods {
  async function appendReport(sent: TurnReport): Promise<ReportResult> {
    try {
      const one = reportOf(sent);
      const bytes = one.events.reduce((sum, event) => sum + event.dataJson.length, 1_000);
      const decide: Decide = (state) => {
        if (!state) throw refuse('LEASE_LOST', `turn ${sent.turnId} no longer exists`);
        return { change: report(state, one, limits, clock.now()) };
      };
      // It belongs to the turn's trace; the call that brought it carries reports of many turns.
      await changes.progress(sent.sessionId, bytes, decide, { trace: parseTraceparent(sent.traceparent) });
      return { errorCode: '', errorMessage: '' };
    } catch (error) {
      if (error instanceof Refusal) return { errorCode: error.code, errorMessage: error.message };
      throw error;
    }
  }

  return {
    async claimTurns({ runnerId, slots }, call) {
      if (slots < 1 || slots > MAX_SLOTS)
        throw refuse('INVALID_REQUEST', `slots is a number from 1 to ${MAX_SLOTS}`);
      const messagesOf = (sessionIds: string[]) => {
        const bytesEach = Math.min(CLAIM_BYTES_EACH, Math.floor(CLAIM_BYTES / sessionIds.length));
        return events.messagesOf(sessionIds, bytesEach, CLAIM_ROWS_EACH, { trace: call.trace });
      };
      const { claimed, company: messages } = await claims.claim(runnerId, slots, messagesOf, call);
      const turns = claimed.map(({ state, turn }): ClaimedTurn => {
        const known = messages?.get(state.sessionId);
        return {
          turnId: turn.turnId,
          sessionId: state.sessionId,
          agentId: state.agentId,
          agentVersion: state.agentVersion,
          attempt: turn.attempt,
          fence: turn.fence,
          ownerId: state.ownerId,
          traceparent: turn.traceparent ?? '',
          usage: turn.usage,
          messages: known?.events ?? [],
          messagesIncomplete: !known?.complete,
          failures: turn.failures,
          openCalls: [],
        };
      });
      return { turns, leaseMs };
    },

    async renewLeases({ runnerId, leases }) {
      const held = new Set(await claims.renew(runnerId, leases));
      return { lostTurnIds: leases.map((lease) => lease.turnId).filter((turnId) => !held.has(turnId)) };
    },

    async reportTurns({ reports }) {
      return { results: await Promise.all(reports.map(appendReport)) };
    },
  };
}

function reportOf(sent: TurnReport): Report {
  return {
    turnId: sent.turnId,
    fence: sent.fence,
    reportSeq: sent.reportSeq,
    events: sent.events.map(({ type, dataJson }) => ({
      type,
      dataJson: oneLine(dataJson, `the data of ${type}`),
    })),
    openMessageId: sent.openMessageId,
    usage: sent.usage ?? NO_USAGE,
    outcome: outcomeOf(sent),
  };
}

const STOP_REASONS = ['end_turn', 'budget_reached', 'max_steps_reached', 'refused'] as const;

function outcomeOf({ outcome }: TurnReport): Outcome | undefined {
  const kind = outcome?.kind;
  switch (kind?.$case) {
    case undefined:
      return undefined;
    case 'completed': {
      const stopReason = STOP_REASONS.find((one) => one === kind.value.stopReason);
      if (!stopReason) throw refuse('INVALID_REQUEST', `a turn cannot end with ${kind.value.stopReason}`);
      return { kind: 'completed', stopReason };
    }
    case 'failed':
      return { kind: 'failed', error: kind.value.error ?? UNKNOWN };
    case 'retry':
      return { kind: 'retry', error: kind.value.error ?? UNKNOWN, delayMs: kind.value.delayMs };
    case 'blocked':
      throw refuse('INVALID_REQUEST', 'a turn cannot wait for anybody yet');
  }
}

const UNKNOWN = { code: 'unknown', message: 'the turn ended without a reason' };
