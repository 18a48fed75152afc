import { refuse, refuseField } from '../../../lib/errors.ts';
import { callerOf, databaseOptionsOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { requireOwned, requireWritable, sessionNotFound } from '../domain/access.ts';
import { interrupt } from '../domain/interrupt.ts';
import { cancelQueuedTurn, releaseQueue, turnNotQueued } from '../domain/queue.ts';
import { recordUpdate } from '../domain/update.ts';
import type { DecideChange, DecideInTransaction, DecideWithContext } from '../store/decisions.ts';
import { hasTurn, markRemoved, readInterruptContext, readQueuedTurn } from '../store/interrupt-context.ts';
import type { ReadOptions } from '../store/lists.ts';
import { setAgentVersion } from '../store/session-updates.ts';
import { actorOf, userOrDeployment } from './actor.ts';
import type { SessionsHandlerContext } from './context.ts';
import { resolveOverrides } from './overrides.ts';
import { sessionMessage, turnNotFound } from './proto.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'interruptSession' | 'releaseQueue' | 'cancelTurn' | 'setAgentVersion'
>;

/** About how many bytes a small change writes. */
const SMALL_CHANGE_BYTES = 1_000;

/** Handlers that interrupt a turn, change the queue and set the agent version of later turns. */
export function turnControlHandlers({
  clock,
  agents,
  changes,
  lists,
  access,
}: SessionsHandlerContext): Methods {
  async function read(sessionId: string, options: ReadOptions) {
    const row = await lists.session(sessionId, options);
    if (!row) throw sessionNotFound(sessionId);
    return sessionMessage(row);
  }

  return {
    async interruptSession({ sessionId, holdQueue, turnId, actor: deployment }, call) {
      const actor = userOrDeployment(deployment, call);
      if (actor.type === 'channel' && turnId === undefined)
        throw refuseField('/turn_id', 'is required of a channel');
      const { ownerId, options } = await access.requireStopper(sessionId, call);
      const queue = holdQueue ? ('hold' as const) : ('continue' as const);
      const input = () => ({ actor, queue, onlyTurnId: turnId, now: clock.now() });
      const decide: DecideWithContext = (state, context) => ({
        change: interrupt(requireOwned(state, sessionId, ownerId), context.interrupt, input()),
      });
      // The session of a run can have turns of other runs and of its user. The turn of the run is removed from the queue
      // while another turn is before it or the queue is held.
      const decideForRun: DecideInTransaction = async (found, tx) => {
        const state = requireOwned(found, sessionId, ownerId);
        const change = interrupt(state, await readInterruptContext(tx, state), input());
        if (change.turns.length > 0) return change;
        const { turn, second } = await readQueuedTurn(tx, state, turnId ?? '');
        if (!turn) return undefined;
        await markRemoved(tx, state, turn);
        return cancelQueuedTurn(state, turn, { second, actor, now: clock.now() });
      };
      if (actor.type === 'schedule' && turnId !== undefined)
        await changes.inOwnTransaction(sessionId, decideForRun, call);
      else await changes.changeWithContext(sessionId, SMALL_CHANGE_BYTES, { interrupt: true }, decide, call);
      return { session: await read(sessionId, options) };
    },

    async releaseQueue({ sessionId }, call) {
      const caller = callerOf(call).userId;
      const decide: DecideChange = (state) => ({
        change: releaseQueue(requireWritable(requireOwned(state, sessionId, caller)), actorOf(call)),
      });
      const change = () => changes.change(sessionId, SMALL_CHANGE_BYTES, decide, call);
      await access.asOwner(sessionId, call, change);
      return { session: await read(sessionId, databaseOptionsOf(call)) };
    },

    async cancelTurn({ sessionId, turnId, actor: deployment }, call) {
      const caller = callerOf(call).userId;
      const actor = userOrDeployment(deployment, call);
      const decide: DecideInTransaction = async (found, tx) => {
        const state = requireOwned(found, sessionId, caller);
        const { turn, second } = await readQueuedTurn(tx, state, turnId);
        if (!turn) throw (await hasTurn(tx, state, turnId)) ? turnNotQueued() : turnNotFound(turnId);
        const change = cancelQueuedTurn(state, turn, { second, actor, now: clock.now() });
        await markRemoved(tx, state, turn);
        return change;
      };
      const change = () => changes.inOwnTransaction(sessionId, decide, call);
      await access.asOwner(sessionId, call, change);
      return {};
    },

    async setAgentVersion({ sessionId, version }, call) {
      const caller = callerOf(call).userId;
      const row = await access.requireOwner(sessionId, call);
      if (isId('ast', row.agent_id)) throw refuse('INVALID_REQUEST', 'An assistant has no versions.');
      if (version < 1) throw refuseField('/version', 'must be 1 or more');
      await agents.getAgentVersion({ agentId: row.agent_id, version }, call);
      const settings = await lists.turnSettings(sessionId, databaseOptionsOf(call));
      // The overrides of the session must be allowed in the new version, too.
      if (settings?.overrides) {
        const target = { ...settings, agent_version: version, overrides: null };
        await resolveOverrides(agents, target, { json: settings.overrides }, call);
      }
      const decide: DecideChange = (state) => {
        const session = requireWritable(requireOwned(state, sessionId, caller));
        if (session.status !== 'idle' || session.current) {
          throw refuse(
            'SESSION_BUSY',
            'The version cannot change during a turn. Wait until the turn has ended.',
            {
              retryAfterSeconds: 1,
            },
          );
        }
        const changed = session.agentVersion === version ? [] : ['agent_version'];
        const change = recordUpdate(session, changed, actorOf(call));
        return changed.length === 0 ? { change } : { change, update: setAgentVersion(sessionId, version) };
      };
      await changes.change(sessionId, SMALL_CHANGE_BYTES, decide, call);
      return { session: await read(sessionId, databaseOptionsOf(call)) };
    },
  };
}
