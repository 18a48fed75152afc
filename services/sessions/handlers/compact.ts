import { type ContextRules, LARGE_RESULT_BYTES } from '../../../lib/context-settings.ts';
import { refuse } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  CompactSessionRequest,
  CompactSessionResponse,
  type SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { requireOwned, requireWritable } from '../domain/access.ts';
import { unchanged } from '../domain/change.ts';
import { queueCompaction } from '../domain/compact.ts';
import { requireIdle } from '../domain/regenerate.ts';
import type { SessionChange } from '../store/apply.ts';
import type { DecideChange } from '../store/decisions.ts';
import type { SessionRow } from '../store/lists.ts';
import { actorOf } from './actor.ts';
import { agentContext } from './agent-context.ts';
import type { SessionsHandlerContext } from './context.ts';
import { newTurnSeq } from './messages.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'compactSession'>;

/** About how many bytes the change writes. */
const CHANGE_BYTES = 1_000;
/** The history is examined again this often when the session changes meanwhile. */
const MAX_ATTEMPTS = 5;

/** What a session had to shorten at a seq. */
interface Examined {
  asOfSeq: number;
  rules: ContextRules;
  mayShorten: boolean;
}

export function compactHandlers(context: SessionsHandlerContext): Methods {
  const { clock, ids, agents, changes, contexts, events, access } = context;

  async function examine(row: SessionRow, call: Call): Promise<Examined> {
    const { rules } = await agentContext(agents, row, call);
    return { asOfSeq: row.last_seq, rules, mayShorten: await mayShorten(row, rules, call) };
  }

  /**
   * Whether there may be something to shorten, without reading the history: the runner decides with all of it, and completes
   * the turn without an event if there is nothing.
   */
  async function mayShorten(row: SessionRow, rules: ContextRules, call: Call): Promise<boolean> {
    if (rules.strategy === 'none') return false;
    const { session_id: sessionId } = row;
    const options = databaseOptionsOf(call);
    const begin = await contexts.newestTurnsBegin(sessionId, rules.keepTurns, options);
    // The turns of a copied history belong to another session. Sessions of earlier releases have no source.
    const isFork = row.source === 'fork' || row.source === null;
    if (begin === undefined && !isFork) return false;
    const { afterSeq, shortenedUpTo } = await events.compactions(sessionId, options);
    const summarizes = rules.strategy === 'summarize';
    const range = {
      afterSeq: summarizes ? afterSeq : shortenedUpTo,
      beforeSeq: begin ?? Number.MAX_SAFE_INTEGER,
      largeResultBytes: summarizes ? 0 : LARGE_RESULT_BYTES,
    };
    return contexts.mayHaveHistory(sessionId, range, options);
  }

  /** Queues the turn if the session is as it was examined. Refuses with `moved` otherwise. */
  async function change(
    request: CompactSessionRequest,
    { asOfSeq, rules, mayShorten: hasWork }: Examined,
    moved: Error,
    call: Call,
  ): Promise<CompactSessionResponse> {
    const { sessionId } = request;
    const turnId = ids('trn');
    const decide: DecideChange = (found) => {
      const state = requireIdle(requireWritable(requireOwned(found, sessionId, callerOf(call).userId)));
      if (rules.strategy === 'none')
        throw refuse('COMPACTION_DISABLED', 'The context strategy of the agent is `none`.');
      if (state.lastSeq !== asOfSeq) throw moved;
      const turn = { turnId, actor: actorOf(call), traceparent: traceparent(call.trace) };
      return { change: hasWork ? queueCompaction(state, turn) : unchanged(state) };
    };
    const responseTo = (changed: SessionChange) =>
      changed.change.newTurn
        ? { turnId, seq: newTurnSeq(changed), replayed: false }
        : { turnId: undefined, seq: 0, replayed: false };
    if (request.idempotencyKey === '')
      return responseTo(await changes.change(sessionId, CHANGE_BYTES, decide, call));
    const key = {
      caller: callerOf(call).userId,
      key: request.idempotencyKey,
      method: 'compactSession',
      request: CompactSessionRequest.encode({ ...request, idempotencyKey: '' }),
      now: clock.now(),
    };
    const encode = (changed: SessionChange) => CompactSessionResponse.encode(responseTo(changed)).finish();
    const { answer, replayed } = await changes.changeOnce(sessionId, key, {}, decide, encode, call);
    return { ...CompactSessionResponse.decode(answer), replayed };
  }

  return {
    async compactSession(request, call) {
      const moved = refuse('SESSION_BUSY', 'The session is changing. Try again.', { retryAfterSeconds: 1 });
      for (let attempt = 1; ; attempt++) {
        const row = await access.requireOwner(request.sessionId, call);
        try {
          return await change(request, await examine(row, call), moved, call);
        } catch (error) {
          if (error !== moved || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    },
  };
}
