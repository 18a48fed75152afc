import { refuse } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  type MessageOverrides,
  RegenerateAnswerRequest,
  RegenerateAnswerResponse,
  type SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { requireOwned, requireWritable, sessionNotFound } from '../domain/access.ts';
import { regenerate, requireIdle, turnNotLast } from '../domain/regenerate.ts';
import type { SessionChange } from '../store/apply.ts';
import type { DecideChange } from '../store/decisions.ts';
import { voidCompactions } from '../store/session-updates.ts';
import { actorOf } from './actor.ts';
import type { SessionsHandlerContext } from './context.ts';
import { newTurnSeq } from './messages.ts';
import { resolveOverrides } from './overrides.ts';
import { turnNotFound } from './proto.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'regenerateAnswer'>;

/** About how many bytes the change writes. */
const CHANGE_BYTES = 1_000;
/** The last turn is read again this often when the session changes meanwhile. */
const MAX_ATTEMPTS = 5;

/** The last turn of a session, as it was at a seq. */
interface LastTurn {
  asOfSeq: number;
  turnId: string | undefined;
  /** The overrides of the new turn as JSON text. Undefined for those of the session. */
  overridesJson: string | undefined;
  /** The session has the requested turn. */
  isKnown: boolean;
}

export function regenerateHandlers(context: SessionsHandlerContext): Methods {
  const { clock, ids, agents, changes, lists, events, access } = context;

  async function readLastTurn(request: RegenerateAnswerRequest, call: Call): Promise<LastTurn> {
    const { sessionId, turnId, overrides } = request;
    const { last_seq: asOfSeq, agent_id: agentId } = await access.requireOwner(sessionId, call);
    // After its deletion, an assistant has no version to go on with.
    if (isId('ast', agentId)) await agents.resolveAgent({ agentId }, call);
    const options = databaseOptionsOf(call);
    // A fork has the answers of turns that belong to another session.
    const row = await lists.lastTurn(sessionId, options);
    const last = row?.turn_id ?? (await events.newestTurn(sessionId, options));
    const isLast = turnId === '' || turnId === last;
    const isKnown = isLast || (await lists.turn(sessionId, turnId, options)) !== undefined;
    const replaced = row?.overrides ?? undefined;
    const overridesJson = overrides && isKnown ? await inForce(sessionId, overrides, call) : replaced;
    return { asOfSeq, turnId: last, overridesJson, isKnown };
  }

  /** The overrides of the new turn, merged with those of the session. */
  async function inForce(
    sessionId: string,
    overrides: MessageOverrides,
    call: Call,
  ): Promise<string | undefined> {
    const settings = await lists.turnSettings(sessionId, databaseOptionsOf(call));
    if (!settings) throw sessionNotFound(sessionId);
    return resolveOverrides(agents, settings, overrides, call);
  }

  /** Appends the change if the last turn is still the same. Refuses with `moved` otherwise. */
  async function change(
    request: RegenerateAnswerRequest,
    last: LastTurn,
    moved: Error,
    call: Call,
  ): Promise<RegenerateAnswerResponse> {
    const { sessionId } = request;
    const turnId = ids('trn');
    const decide: DecideChange = (found) => {
      const owned = requireOwned(found, sessionId, callerOf(call).userId);
      const replacesTurnId = requireTurn(request, last);
      const state = requireIdle(requireWritable(owned));
      if (state.lastSeq !== last.asOfSeq) throw moved;
      if (request.turnId !== '' && request.turnId !== replacesTurnId) throw turnNotLast(sessionId);
      const { overridesJson } = last;
      const trace = { actor: actorOf(call), traceparent: traceparent(call.trace) };
      const replacing = regenerate(state, { turnId, replacesTurnId, overridesJson, ...trace });
      return { change: replacing, update: voidCompactions(sessionId, replacesTurnId) };
    };
    const responseTo = (changed: SessionChange) => ({ turnId, seq: newTurnSeq(changed), replayed: false });
    if (request.idempotencyKey === '')
      return responseTo(await changes.change(sessionId, CHANGE_BYTES, decide, call));
    const key = {
      caller: callerOf(call).userId,
      key: request.idempotencyKey,
      method: 'regenerateAnswer',
      request: RegenerateAnswerRequest.encode({ ...request, idempotencyKey: '' }),
      now: clock.now(),
    };
    const encode = (changed: SessionChange) => RegenerateAnswerResponse.encode(responseTo(changed)).finish();
    const { answer, replayed } = await changes.changeOnce(sessionId, key, {}, decide, encode, call);
    return { ...RegenerateAnswerResponse.decode(answer), replayed };
  }

  return {
    async regenerateAnswer(request, call) {
      const moved = refuse('SESSION_BUSY', 'The session is changing. Try again.', { retryAfterSeconds: 1 });
      for (let attempt = 1; ; attempt++) {
        try {
          return await change(request, await readLastTurn(request, call), moved, call);
        } catch (error) {
          if (error !== moved || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    },
  };
}

/** Returns the id of the last turn. Refuses with TURN_NOT_FOUND a turn that the session does not have. */
function requireTurn({ turnId }: RegenerateAnswerRequest, last: LastTurn): string {
  if (last.isKnown && last.turnId !== undefined) return last.turnId;
  throw turnId === '' ? refuse('TURN_NOT_FOUND', 'The session has no answer yet.') : turnNotFound(turnId);
}
