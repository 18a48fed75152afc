import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { requireOwned, requireWritable, sessionNotFound } from '../domain/access.ts';
import { deleteSession, recordUpdate } from '../domain/update.ts';
import type { DecideChange, DecideInTransaction } from '../store/decisions.ts';
import { cancelQueuedTurns, markDeleted, queuedTurns } from '../store/deletion.ts';
import { setArchived, setTitleAndMetadata } from '../store/session-updates.ts';
import { actorOf } from './actor.ts';
import type { SessionsHandlerContext } from './context.ts';
import { sessionMessage } from './proto.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'updateSession' | 'archiveSession' | 'deleteSession'
>;

const NOUN = 'session';

/** About how many bytes a small change writes. */
const SMALL_CHANGE_BYTES = 1_000;

/** Handlers that rename, archive and delete a session. */
export function lifecycleHandlers({
  clock,
  changes,
  lists,
  access,
  sandboxes,
}: SessionsHandlerContext): Methods {
  async function read(sessionId: string, call: Call) {
    const row = await lists.session(sessionId, databaseOptionsOf(call));
    if (!row) throw sessionNotFound(sessionId);
    return { session: sessionMessage(row) };
  }

  return {
    async updateSession({ sessionId, title, metadata, ifRevisions }, call) {
      const caller = callerOf(call).userId;
      const fields = {
        ...(title === undefined ? {} : { title: title || null }),
        ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata.entries) }),
      };
      const decide: DecideChange = (state) => {
        const found = requireOwned(state, sessionId, caller);
        checkRevision(NOUN, found.lastSeq, ifRevisions);
        const session = requireWritable(found);
        return {
          change: recordUpdate(session, Object.keys(fields), actorOf(call)),
          update: setTitleAndMetadata(sessionId, fields),
        };
      };
      const update = () => changes.change(sessionId, SMALL_CHANGE_BYTES, decide, call);
      await access.asOwner(sessionId, call, update);
      return read(sessionId, call);
    },

    async archiveSession({ sessionId }, call) {
      const caller = callerOf(call).userId;
      const decide: DecideChange = (state) => {
        const session = requireOwned(state, sessionId, caller);
        const change = recordUpdate(session, session.archived ? [] : ['archived_at'], actorOf(call));
        return session.archived ? { change } : { change, update: setArchived(sessionId, clock.now()) };
      };
      const archive = () => changes.change(sessionId, SMALL_CHANGE_BYTES, decide, call);
      await access.asOwner(sessionId, call, archive);
      return read(sessionId, call);
    },

    async deleteSession({ sessionId, ifRevisions }, call) {
      const caller = callerOf(call).userId;
      const decide: DecideInTransaction = async (found, tx) => {
        const now = clock.now();
        const state = requireOwned(found, sessionId, caller);
        checkRevision(NOUN, state.lastSeq, ifRevisions);
        const queued = await queuedTurns(tx, state);
        await markDeleted(tx, state, now);
        await cancelQueuedTurns(tx, state, now);
        await sandboxes.requestEndForTenant(tx, sessionId, 'its session is deleted', now);
        return deleteSession(state, queued, actorOf(call), now);
      };
      const remove = () => changes.inOwnTransaction(sessionId, decide, call);
      await access.asOwner(sessionId, call, remove);
      return {};
    },
  };
}
