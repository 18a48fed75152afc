import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import { isId } from '../../../lib/ids.ts';
import type { Share } from '../domain/fair-pick.ts';

/**
 * Locks agents until the transaction ends, so that two instances do not start turns of the same agent at once. Returns
 * those that no other transaction has locked.
 */
const LOCK_AGENTS = statement(
  'sessions.lock_agents',
  `select agent_id from unnest($1::text[]) i (agent_id) where pg_try_advisory_xact_lock(hashtextextended(agent_id, 0))`,
);

/** Counts up to the limit. This is a separate statement, because it must see what was committed before the lock. */
const RUNNING = statement(
  'sessions.running_turns',
  `select agent_id, (
     select count(*) from (
       select from turns t where t.status = 'in_progress' and t.agent_id = i.agent_id limit i.max_running
     ) counted
   ) as running
   from unnest($1::text[], $2::integer[]) i (agent_id, max_running)`,
);

/**
 * An agent with more room than this is not counted again under a lock: it has room for the picks of several instances
 * at once, which start at most 128 turns each.
 */
const AMPLE_TURNS = 512;

/** Turns to be started, and whether another transaction has locked an agent. */
interface AllowedShares {
  shares: Share[];
  isContended: boolean;
}

/** Turns of one agent that may be in progress. The sessions of an assistant share one workspace, so it has one. */
function limitOf(agentId: string, maxTurnsPerAgent: number): number {
  return isId('ast', agentId) ? 1 : maxTurnsPerAgent;
}

/**
 * Reduces the shares to what their agents may start now. Agents near their limit are locked and counted again; those
 * that another transaction has locked are left to a later pick.
 */
export async function withinCapacity(
  tx: Pick<DatabaseSession, 'rows'>,
  shares: readonly Share[],
  maxTurnsPerAgent: number,
): Promise<AllowedShares> {
  const near = shares.filter(({ agentId, free }) => isId('ast', agentId) || free <= AMPLE_TURNS);
  const agentIds = [...new Set(near.map(({ agentId }) => agentId))].sort();
  if (agentIds.length === 0) return { shares: [...shares], isContended: false };
  const locked = (await tx.rows<{ agent_id: string }>(LOCK_AGENTS, [agentIds])).map((row) => row.agent_id);
  const limits = locked.map((agentId) => limitOf(agentId, maxTurnsPerAgent));
  const rows = await tx.rows<{ agent_id: string; running: number }>(RUNNING, [locked, limits]);
  const free = new Map(agentIds.map((agentId) => [agentId, 0]));
  for (const row of rows) free.set(row.agent_id, limitOf(row.agent_id, maxTurnsPerAgent) - row.running);
  return {
    shares: shares.flatMap((share) => reduced(share, free)),
    isContended: locked.length < agentIds.length,
  };
}

/** The share with at most as many turns as the agent has room for, which it takes. Agents without an entry have room. */
function reduced(share: Share, free: Map<string, number>): Share[] {
  const room = free.get(share.agentId);
  if (room === undefined) return [share];
  const turns = Math.min(share.turns, room);
  free.set(share.agentId, room - turns);
  return turns > 0 ? [{ ...share, turns }] : [];
}
