import { type Database, statement } from '../../../lib/db/database.ts';
import type { ReadyTurns } from '../domain/fair-pick.ts';

/** Where the search for ready turns of a priority begins: after the owner that was served last. */
export interface SearchPosition {
  /** The owners after this one come first. Empty for the beginning. */
  interactive: string;
  triggered: string;
  /** The agents of an owner after this one come first. Owners without an entry begin with their first agent. */
  agents: readonly AgentPosition[];
}

export interface AgentPosition {
  priority: number;
  ownerId: string;
  agentId: string;
}

interface ReadyTurnsPage {
  /** In the order in which owners, and agents of an owner, are to be served. */
  ready: ReadyTurns[];
  /** The page does not hold every ready turn. */
  isCut: boolean;
}

/** Owners of one priority in a page: as many as there are slots, within these limits. */
const MIN_OWNERS = 8;
const MAX_OWNERS = 32;
/** Agents of one owner in a page. */
const MAX_AGENTS = 16;

/**
 * SQL for one step of a skip scan: the next value of the column after the current one or, after the last value, the
 * first one. Ends where the scan started. A limit keeps each condition on the index: as a filter, it would be
 * evaluated for every row.
 */
function nextValue(column: 'owner_id' | 'agent_id', scan: string, prefix: string): string {
  return `(
    select next.${column}, ${scan}.wrapped
    from (
      select t.${column} from turns t where t.ready and ${prefix} and t.${column} > ${scan}.${column}
      order by t.${column} limit 1
    ) next
    where not ${scan}.wrapped or next.${column} <= ${scan}.start
    union all
    select first.${column}, true
    from (
      select t.${column} from turns t where not ${scan}.wrapped and t.ready and ${prefix}
      order by t.${column} limit 1
    ) first
    where first.${column} <= ${scan}.start
    limit 1
  )`;
}

/**
 * The owners and agents with ready turns, by skip scan: the cost grows with the owners and agents that are returned, and
 * not with their turns. The limit of turns in progress is $3 for an agent and 1 for an assistant, whose sessions share
 * one workspace.
 */
const READY = statement(
  'sessions.ready_turns',
  `with recursive
   input as materialized (
     select $1::text as interactive, $2::text as triggered, $3::int as max_running, $4::int as max_owners,
       $5::int as max_agents, $6::int as slots, $7::smallint[] as priorities, $8::text[] as owner_ids,
       $9::text[] as agent_ids
   ),
   positions as (
     select unnest(priorities) as priority, unnest(owner_ids) as owner_id, unnest(agent_ids) as agent_id from input
   ),
   owners (priority, start, owner_id, wrapped, n) as (
     select priority, start, start, false, 0
     from input cross join lateral (values (0::smallint, interactive), (1::smallint, triggered)) as lanes (priority, start)
     union all
     select o.priority, o.start, next.owner_id, next.wrapped, o.n + 1
     from owners o cross join lateral ${nextValue('owner_id', 'o', 't.priority = o.priority')} next
     where o.n < (select max_owners from input)
   ),
   agents (priority, owner_id, owner_n, start, agent_id, wrapped, n) as (
     select o.priority, o.owner_id, o.n, coalesce(p.agent_id, ''), coalesce(p.agent_id, ''), false, 0
     from owners o left join positions p using (priority, owner_id)
     where o.n > 0
     union all
     select a.priority, a.owner_id, a.owner_n, a.start, next.agent_id, next.wrapped, a.n + 1
     from agents a
     cross join lateral ${nextValue('agent_id', 'a', 't.priority = a.priority and t.owner_id = a.owner_id')} next
     where a.n < (select max_agents from input)
   ),
   capacity as materialized (
     select agent_id, max_running - (
       select count(*) from (
         select from turns r where r.status = 'in_progress' and r.agent_id = i.agent_id limit max_running
       ) running
     ) as free
     from (
       select distinct agent_id, case when agent_id collate "C" between 'ast_' and 'ast_~' then 1 else max_running end as max_running
       from agents cross join input where n > 0
     ) i
   ),
   counting as materialized (
     select slots / greatest((select count(*) from owners where n > 0), 1) + 2 as max_turns from input
   )
   select a.priority, a.owner_id, a.owner_n, a.agent_id, a.n as agent_n, c.free, (
     select count(*) from (
       select from turns t
       where c.free > 0 and t.ready and t.priority = a.priority and t.owner_id = a.owner_id and t.agent_id = a.agent_id
       limit (select max_turns from counting)
     ) counted
   ) as turns, (select max_turns from counting) as max_turns
   from agents a join capacity c using (agent_id)
   where a.n > 0
   order by a.priority, a.owner_n, a.n`,
);

interface ReadyRow {
  priority: number;
  owner_id: string;
  owner_n: number;
  agent_id: string;
  agent_n: number;
  free: number;
  turns: number;
  /** Turns are counted up to this number. */
  max_turns: number;
}

/** Reads which owners and agents have ready turns, from the position on. `slots` turns are wanted. */
export async function readReadyTurns(
  db: Pick<Database, 'rows'>,
  { interactive, triggered, agents }: SearchPosition,
  slots: number,
  maxTurnsPerAgent: number,
): Promise<ReadyTurnsPage> {
  const maxOwners = Math.min(Math.max(slots, MIN_OWNERS), MAX_OWNERS);
  const rows = await db.rows<ReadyRow>(READY, [
    interactive,
    triggered,
    maxTurnsPerAgent,
    maxOwners,
    MAX_AGENTS,
    slots,
    agents.map(({ priority }) => priority),
    agents.map(({ ownerId }) => ownerId),
    agents.map(({ agentId }) => agentId),
  ]);
  return {
    ready: rows.map((row) => ({
      priority: row.priority,
      ownerId: row.owner_id,
      agentId: row.agent_id,
      turns: row.turns,
      free: row.free,
    })),
    isCut: rows.some(
      ({ owner_n: owner, agent_n: agent, turns, max_turns: maxTurns }) =>
        owner === maxOwners || agent === MAX_AGENTS || turns === maxTurns,
    ),
  };
}
