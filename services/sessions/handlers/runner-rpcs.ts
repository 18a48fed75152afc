import { Refusal, refuse, refuseField } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { parseTraceparent } from '../../../lib/trace.ts';
import type {
  ClaimedTurn,
  Lease,
  ReportResult,
  SessionsServiceDefinition,
  TurnReport,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { report } from '../domain/run.ts';
import type { TurnState } from '../domain/state.ts';
import { deliver } from '../domain/steering.ts';
import type { DecideChange, DecideInTransaction } from '../store/decisions.ts';
import { markDelivered, readWaitingMessages } from '../store/steering.ts';
import type { SessionsHandlerContext } from './context.ts';
import { openCallsOf } from './open-calls.ts';
import { parseReport } from './reports.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'claimTurns' | 'renewLeases' | 'reportTurns' | 'deliverMessages'
>;

const MAX_SLOTS = 1_000;
const MAX_WAIT_MS = 20_000;
/** About how many bytes a report writes beside the data of its events. */
const REPORT_OVERHEAD_BYTES = 1_000;

/** The RPCs of the runner: claim turns, renew their leases, report their progress and deliver messages into them. */
export function runnerHandlers({
  clock,
  ids,
  approvalTtlMs,
  stateSealer,
  changes,
  claims,
  events,
  leases,
  followers,
  limits,
  leaseMs,
}: SessionsHandlerContext): Methods {
  async function appendReport(sent: TurnReport): Promise<ReportResult> {
    try {
      const parsed = parseReport(sent, { clock, ids, approvalTtlMs, stateSealer });
      const bytes = parsed.events.reduce((sum, event) => sum + event.dataJson.length, REPORT_OVERHEAD_BYTES);
      let steered = false;
      const decide: DecideChange = (state) => {
        if (!state) throw refuse('LEASE_LOST', `Turn ${sent.turnId} no longer exists.`);
        steered = state.isSteered;
        return { change: report(state, parsed, limits, clock.now()) };
      };
      // The report belongs to the trace of its turn; the RPC carries the reports of many turns.
      const options = { trace: parseTraceparent(sent.traceparent) };
      await changes.changeOptimistically(sent.sessionId, bytes, decide, options);
      return { errorCode: '', errorMessage: '', followed: followers.isFollowed(sent.sessionId), steered };
    } catch (error) {
      if (error instanceof Refusal)
        return { errorCode: error.code, errorMessage: error.message, followed: false };
      throw error;
    }
  }

  return {
    async claimTurns(request, call) {
      const { slots, waitMs } = request;
      if (slots < 0 || slots > MAX_SLOTS)
        throw refuse('INVALID_REQUEST', `slots is ${slots}; it must be between 0 and ${MAX_SLOTS}.`);
      if (waitMs < 0 || waitMs > MAX_WAIT_MS)
        throw refuse('INVALID_REQUEST', `wait_ms is ${waitMs}; it must be between 0 and ${MAX_WAIT_MS}.`);
      const claim = await claims.claim(request, call);
      const turns = claim.claimed.map(({ state, turn }): ClaimedTurn => {
        const messages = claim.messages?.get(state.sessionId);
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
          messages: messages?.events ?? [],
          messagesIncomplete: !messages?.complete,
          failures: turn.failures,
          openCalls: openCallsOf(turn, claim.approvals, stateSealer),
          followed: followers.isFollowed(state.sessionId),
          overridesJson: overridesOf(turn),
          toolsOfferedSha256: state.toolsOfferedSha256 ?? undefined,
          fallbackModel: turn.fallbackModel ?? undefined,
          maxFailures: limits.maxFailures,
          steered: state.isSteered,
          compactsUpToSeq: turn.kind === 'compaction' ? turn.position : undefined,
        };
      });
      return { turns, leaseMs, waitedMs: claim.waitedMs };
    },

    async renewLeases({ runnerId, leases: requested }) {
      const { extended, unextended, steered } = await leases.renew(runnerId, requested);
      const isLost = ({ turnId }: Lease) => !extended.has(turnId) && !unextended.has(turnId);
      const lostTurnIds = requested.filter(isLost).map((lease) => lease.turnId);
      return { lostTurnIds, unextendedTurnIds: [...unextended], steeredTurnIds: steered };
    },

    async reportTurns({ reports }) {
      return { results: await Promise.all(reports.map(appendReport)) };
    },

    async deliverMessages({ lease, step, afterSeq }, call) {
      if (!lease) throw refuseField('/lease', 'is required');
      if (step < 1) throw refuseField('/step', 'must be 1 or more');
      const { sessionId, turnId, fence } = lease;
      const decide: DecideInTransaction = async (found, tx) => {
        const waiting = found ? await readWaitingMessages(tx, found, turnId) : [];
        const request = { turnId, fence, step, now: clock.now() };
        const { change, deliveries } = deliver(found, waiting, request);
        if (deliveries.length > 0) await markDelivered(tx, sessionId, turnId, deliveries);
        return change;
      };
      await changes.inOwnTransaction(sessionId, decide, call);
      const { events: messages, hasMore } = await events.delivered(sessionId, turnId, afterSeq, call);
      return { messages, hasMore };
    },
  };
}

/** A runner of an earlier release ends a compaction without a model step. */
function overridesOf({ kind, overridesJson }: TurnState): string | undefined {
  if (kind === 'answer') return overridesJson ?? undefined;
  return JSON.stringify({ ...JSON.parse(overridesJson ?? '{}'), max_steps: 0 });
}
