import { Type } from 'typebox';
import { Refusal } from '../../lib/errors.ts';
import type { GetTurnResponse } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Exchange } from '../route.ts';
import { nullable, optional } from '../schemas/common.ts';
import { serializeTurnResult, TurnResultShape } from '../schemas/turns.ts';

/** The member of a body and the query parameter with the time to wait. */
export const waitSeconds = optional(
  Type.Integer({
    minimum: 0,
    maximum: 60,
    description:
      'The maximum time in seconds to wait until the turn ends or blocks. Disconnecting does not stop the turn.',
  }),
);

/** Beyond the time to wait, for the answer itself. */
const MARGIN_MS = 10_000;

type Waiting = Pick<Exchange, 'clients' | 'call' | 'draining'>;

/**
 * Returns the turn when it, or the turn that its message was delivered into, has ended or blocked, or the state reached after `seconds` or when this process or the sessions
 * service stops.
 */
export function waitForTurn(
  { clients, call, draining }: Waiting,
  turn: { sessionId: string; turnId: string },
  seconds: number,
): Promise<GetTurnResponse> {
  const waitMs = seconds * 1_000;
  const signal = AbortSignal.any([draining, ...(call.signal ? [call.signal] : [])]);
  const options = { ...call, signal, timeoutMs: waitMs + MARGIN_MS };
  // Not an async function, whose state each waiting call would retain.
  return clients.sessions.getTurn({ ...turn, waitMs }, options).catch((error: unknown) => {
    if (!draining.aborted || call.signal?.aborted) throw error;
    return clients.sessions.getTurn({ ...turn, waitMs: 0 }, call);
  });
}

/**
 * The turn that answers the message of a turn, for a client that has sent it: the turn itself, or the one that the message was
 * delivered into.
 */
export function answeringTurn({ turn, deliveredTo, lastMessage }: GetTurnResponse): GetTurnResponse {
  return { turn: deliveredTo ?? turn, lastMessage };
}

/** The turn of a request that queued one and has `wait_seconds`. */
export const waitedTurn = nullable(TurnResultShape, {
  description:
    'Only with `wait_seconds`: the turn, or the turn that its message was delivered into (`busy_policy: steer`). Null without a message, and when the turn cannot be read now.',
});

/**
 * The member `turn` of the response after a turn was queued; none without `seconds`. The request has had its effect, so the
 * turn is null when it cannot be read now.
 */
export async function turnMember(
  exchange: Waiting,
  { sessionId, turnId }: { sessionId: string; turnId: string | undefined },
  seconds: number | undefined,
) {
  if (seconds === undefined) return {};
  if (turnId === undefined) return { turn: null };
  try {
    const found = await waitForTurn(exchange, { sessionId, turnId }, seconds);
    return { turn: serializeTurnResult(answeringTurn(found)) };
  } catch (error) {
    if (error instanceof Refusal && error.code !== 'CANCELLED') return { turn: null };
    throw error;
  }
}
