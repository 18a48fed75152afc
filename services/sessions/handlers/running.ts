import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { parseTraceparent } from '../../../lib/trace.ts';
import type {
  ClaimedTurn,
  OpenCall as OpenCallMessage,
  ReportResult,
  SessionsServiceDefinition,
  TurnReport,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { report } from '../domain/run.ts';
import type { TurnState } from '../domain/state.ts';
import type { ApprovalRow } from '../store/approvals.ts';
import type { Decide } from '../store/changes.ts';
import type { HandlerContext } from './context.ts';
import { reportOf } from './reports.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'claimTurns' | 'renewLeases' | 'reportTurns'>;

const MAX_SLOTS = 1_000;
/** Messages that go out with the turns of one claim: what does not fit is read by the runner. */
const CLAIM_BYTES = 4 * 1024 * 1024;
const CLAIM_BYTES_EACH = 256 * 1024;
const CLAIM_ROWS_EACH = 200;

/** The other side of the runner: it claims turns, keeps their leases and reports what they do. */
export function runningHandlers({
  clock,
  ids,
  approvals,
  approvalTtlMs,
  changes,
  claims,
  events,
  limits,
  leaseMs,
}: HandlerContext): Methods {
  async function appendReport(sent: TurnReport): Promise<ReportResult> {
    try {
      const one = reportOf(sent, { clock, ids, approvalTtlMs });
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

  /** What was decided about the open calls of these turns. Nearly all turns have none. */
  async function decisionsOf(turns: TurnState[], call: Call): Promise<Map<string, ApprovalRow>> {
    const asked = turns.flatMap(({ calls }) => calls.flatMap(({ approval }) => approval?.approvalId ?? []));
    const rows = asked.length === 0 ? [] : await approvals.byIds(asked, call);
    return new Map(rows.map((row) => [row.approval_id, row]));
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
      const decided = await decisionsOf(
        claimed.map(({ turn }) => turn),
        call,
      );
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
          openCalls: openCallsOf(turn, decided),
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

function openCallsOf({ calls }: TurnState, decided: ReadonlyMap<string, ApprovalRow>): OpenCallMessage[] {
  return calls.map(({ toolUseId, dispatches, approval }) => {
    const row = approval && decided.get(approval.approvalId);
    const decision = row && {
      kind: row.kind,
      decision: row.decision ?? row.status,
      reason: row.reason ?? '',
      inputJson: row.edited_input ?? row.input,
      inputSha256: row.decided_sha256 ?? row.input_sha256,
      edited: row.edited_input !== null,
      dispatches: approval?.dispatches ?? 0,
    };
    return { toolUseId, dispatches, decision: decision ?? undefined };
  });
}
