import { refuseField } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type {
  SessionsServiceDefinition,
  Signal,
  TurnState,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { SummaryInSession } from '../store/signalled-turns.ts';
import type { ClaimedSignal } from '../store/signals.ts';
import type { SessionsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'lookUpTurns' | 'claimSignals' | 'ackSignals'>;

const MAX_ITEMS = 500;
const MAX_LEASE_SECONDS = 300;
/** Other ids are unknown. Longer ones are not numbers of the database. */
const SIGNAL_ID = /^\d{1,18}$/;

/** Handlers for services that use sessions: the states of their turns, and signals of what has happened. */
export function signalHandlers({ clock, signals, signalledTurns }: SessionsHandlerContext): Methods {
  return {
    async lookUpTurns({ turnIds }, call) {
      if (turnIds.length > MAX_ITEMS) throw refuseField('/turn_ids', `must have at most ${MAX_ITEMS} items`);
      if (turnIds.length === 0) return { turns: [] };
      return { turns: (await signalledTurns.lookUp(turnIds, call)).map(turnStateMessage) };
    },

    async claimSignals({ limit, leaseSeconds }, call) {
      if (limit < 1 || limit > MAX_ITEMS) throw refuseField('/limit', `must be 1–${MAX_ITEMS}`);
      if (leaseSeconds < 1 || leaseSeconds > MAX_LEASE_SECONDS)
        throw refuseField('/lease_seconds', `must be 1–${MAX_LEASE_SECONDS}`);
      const now = clock.now();
      const until = new Date(now.getTime() + leaseSeconds * 1_000);
      return { signals: (await signals.claim({ now, until, limit }, call)).map(signalMessage) };
    },

    async ackSignals({ signalIds }, call) {
      if (signalIds.length > MAX_ITEMS)
        throw refuseField('/signal_ids', `must have at most ${MAX_ITEMS} items`);
      const known = signalIds.filter((id) => SIGNAL_ID.test(id));
      if (known.length > 0) await signals.acknowledge(known, call);
      return {};
    },
  };
}

function turnStateMessage({ sessionId, turn }: SummaryInSession): TurnState {
  return {
    turnId: turn.turnId,
    sessionId,
    status: turn.status,
    stopReasonJson: turn.stopReasonJson ?? '',
    usageJson: turn.usageJson ?? '',
    errorJson: turn.errorJson ?? '',
    startedAt: turn.startedAt ?? undefined,
    finishedAt: turn.finishedAt ?? undefined,
  };
}

function signalMessage({ sessionId, turn, approvalId, ...signal }: ClaimedSignal): Signal {
  return {
    ...signal,
    sessionId,
    turn: turn && turnStateMessage({ sessionId, turn }),
    approvalId: approvalId ?? '',
  };
}
