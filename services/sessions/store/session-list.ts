import { type Statement, statement } from '../../../lib/db/database.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { statementName } from '../../../lib/db/statement-name.ts';
import { type IdRange, idsCreatedBetween } from '../../../lib/ids.ts';
import {
  ACTIVE_STATES,
  type DerivedState,
  INPUT_KINDS,
  OUTCOMES,
  type Outcome,
  stopReasonsOf,
} from '../domain/derived-state.ts';
import {
  hasEntry,
  hasMember,
  type MetadataDriver,
  type MetadataMember,
  sessionsWithMember,
} from './metadata-filter.ts';

export interface SessionFilter {
  /** The caller. A cursor is only valid for the caller that got it. */
  callerId: string;
  /** Undefined for the sessions of all owners. */
  ownerId: string | undefined;
  agentId: string;
  deploymentId: string;
  status: string;
  /** Sessions in any of these states. Empty for all sessions. */
  states: readonly DerivedState[];
  needsAction?: boolean | undefined;
  q: string;
  archived?: boolean | undefined;
  /** Sessions whose metadata has all of these members. */
  metadata: readonly MetadataMember[];
  /** Sessions that were created after and before these times. */
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

export const SESSION_COLUMNS = `
  s.session_id, s.owner_id, s.agent_id, s.agent_version, s.deployment_id, s.body_bytes is not null as is_invocation, s.title, s.metadata, s.created_at,
  s.source, s.token_id,
  s.archived_at, h.last_seq, h.status, h.stop_reason, h.current_turn_id, h.queued_turns, h.queue_held, h.input_tokens,
  h.output_tokens, h.cached_input_tokens, h.cache_write_tokens, h.reasoning_tokens, h.estimated, h.steps, h.tool_calls, h.active_ms, h.updated_at,
  h.environment_status, h.sandbox_id, h.sandbox_provider`;

/** A lateral join, because a plain join would also read the heads of newer sessions of other owners. */
export const HEAD_OF_EACH = `cross join lateral (
  select h.*, e.status as environment_status, e.sandbox_id, e.provider as sandbox_provider
  from heads h left join session_environments e using (session_id) where h.session_id = s.session_id limit 1
) h`;

/** A turn that is current while the session is idle or pending waits for a user. */
const NEEDS_ACTION = `(h.current_turn_id is not null and h.status in ('idle', 'pending'))`;

/** Finds sessions by their unfinished turns, because few sessions have any. `ownerCondition` ends with `and`. */
const hasUnfinishedTurns = (ownerCondition: string) =>
  `s.session_id in (select session_id from turns where ${ownerCondition} finished_at is null)`;
const WORKING_STATUSES = new Set(['pending', 'running', 'rescheduling']);

const textArray = (values: readonly string[]) => `array[${values.map((value) => `'${value}'`).join(', ')}]`;

/** The rule of `derivedState` in SQL, for sessions with unfinished turns. */
const ACTIVE_STATE = `case
  when ${NEEDS_ACTION} and h.stop_reason ->> 'kind' = any (${textArray(INPUT_KINDS)}) then 'needs_input'
  when ${NEEDS_ACTION} then 'needs_approval'
  when h.status = 'running' then 'running'
  when h.status = 'rescheduling' then 'retrying'
  when h.status = 'pending' then 'queued'
end`;

function hasOutcome(outcome: Outcome): string {
  const isIdle = `h.status = 'idle' and h.current_turn_id is null`;
  return `${isIdle} and h.stop_reason ->> 'type' = any (${textArray(stopReasonsOf(outcome))})`;
}

/** Builds a statement whose text depends on which filters are set. */
class Conditions {
  readonly values: unknown[];
  readonly names: string[] = [];
  readonly conditions = ['s.deleted_at is null'];
  /** Conditions on the outcomes that a page is taken from. */
  readonly outcomeConditions: string[] = [];

  constructor(limit: number) {
    this.values = [limit];
  }

  /** Adds a value and returns its parameter. */
  readonly value = (value: unknown): string => `$${this.values.push(value)}`;

  add(name: string, value: unknown, condition: (parameter: string) => string): void {
    this.names.push(name);
    this.conditions.push(condition(this.value(value)));
  }
}

/** Whether few sessions pass the filter besides its metadata, because few sessions have unfinished turns. */
export function isFilteredByWork({ status, needsAction, states }: SessionFilter): boolean {
  const isActive = (state: DerivedState) => ACTIVE_STATES.some((active) => active === state);
  return (
    WORKING_STATUSES.has(status) ||
    needsAction === true ||
    (states.length > 0 && states.every((state) => isActive(state)))
  );
}

/** The outcomes of the states, if all sessions in these states have one of them. Empty otherwise. */
function rareOutcomes({ states }: SessionFilter): Outcome[] {
  const outcomes = OUTCOMES.filter((outcome) => outcome !== 'completed' && states.includes(outcome));
  return outcomes.length === states.length ? outcomes : [];
}

/**
 * Returns the statement for a page of sessions, newest first. Each filter that is set adds a condition, so that each
 * combination is a statement with its own plan. `driver` is undefined for a page that is taken from the sessions, or from the
 * index of another filter.
 */
export function listStatement(
  filter: SessionFilter,
  before: string | undefined,
  limit: number,
  driver?: MetadataDriver,
): { query: Statement; values: unknown[] } {
  const built = new Conditions(limit);
  const { names, conditions, values } = built;
  if (filter.ownerId !== undefined) built.add('owner', filter.ownerId, (value) => `s.owner_id = ${value}`);
  if (filter.agentId) built.add('agent', filter.agentId, (value) => `s.agent_id = ${value}`);
  if (filter.deploymentId)
    built.add('deployment', filter.deploymentId, (value) => `s.deployment_id = ${value}`);
  if (filter.status) built.add('status', filter.status, (value) => `h.status = ${value}`);
  const unfinished = hasUnfinishedTurns(filter.ownerId === undefined ? '' : 'owner_id = $2 and');
  if (WORKING_STATUSES.has(filter.status) || filter.needsAction) {
    names.push('at_work');
    conditions.push(unfinished);
  }
  if (filter.needsAction !== undefined)
    built.add('action', filter.needsAction, (value) => `${NEEDS_ACTION} = ${value}`);
  if (filter.q)
    built.add(
      'q',
      likePattern(filter.q),
      (value) => `(s.title ilike ${value} or s.session_id ilike ${value})`,
    );
  const states = filter.states.length === 0 ? undefined : `$${values.push(filter.states)}::text[]`;
  if (states !== undefined) names.push('states');
  names.push(filter.archived ? 'archived' : 'kept');
  conditions.push(filter.archived ? 's.archived_at is not null' : 's.archived_at is null');
  for (const member of filter.metadata) {
    names.push('metadata');
    conditions.push(hasMember(member, built.value));
  }
  const range = addCreationTimes(built, filter);
  const bounds: IdRange = { after: range.after, before: lower(before, range.before) };
  addBounds(built, bounds);
  const byHead = filter.status !== '' || filter.needsAction !== undefined || states !== undefined;
  const branch = (source: string, more: string[], ordered = 's') => `(
    select s.* from ${source} ${byHead ? HEAD_OF_EACH : ''}
    where ${[...conditions, ...more].join(' and ')} order by ${ordered}.session_id desc limit $1
  )`;
  const pageBranches = () => {
    const { metadata: members, ownerId, agentId, archived = false } = filter;
    const scope = { ownerId, agentId, archived };
    if (driver) {
      const outcomes = rareOutcomes(filter);
      names.push(driver.isFrequent ? 'by_frequent_metadata' : 'by_metadata', ...outcomes);
      const source = sessionsWithMember(scope, driver, { members, outcomes }, bounds, built.value);
      return [branch(source, states === undefined ? [] : [isInStates(states)], 'm')];
    }
    if (states === undefined) return [branch('sessions s', [])];
    if (members.length > 0 && !isFilteredByWork(filter)) {
      names.push('by_state');
      built.outcomeConditions.push(...members.map((member) => hasEntry('o', scope, member, built.value)));
    }
    return stateBranches(filter, { states, unfinished, outcomeConditions: built.outcomeConditions }, branch);
  };
  const branches = pageBranches();
  return {
    query: statement(
      statementName('sessions.list', names),
      // Selects the sessions first and then joins their columns, so that the columns do not affect the first plan.
      `select ${SESSION_COLUMNS} from (
         ${branches.length === 1 ? branches[0] : `${branches.join(' union all ')} order by session_id desc limit $1`}
       ) s ${HEAD_OF_EACH} order by s.session_id desc`,
    ),
    values,
  };
}

/** Adds the conditions on the creation time, and returns the range of ids in which such sessions are. */
function addCreationTimes(built: Conditions, { createdAfter, createdBefore }: SessionFilter): IdRange {
  if (createdAfter) built.add('after', createdAfter, (value) => `s.created_at > ${value}::timestamptz`);
  if (createdBefore) built.add('until', createdBefore, (value) => `s.created_at < ${value}::timestamptz`);
  return idsCreatedBetween('ses', createdAfter, createdBefore);
}

/** Restricts the ids of a page to a range. Neither bound belongs to it. */
function addBounds(built: Conditions, { after, before }: IdRange): void {
  if (before !== undefined) {
    built.add('before', before, (value) => `s.session_id < ${value}`);
    built.outcomeConditions.push(`o.session_id < $${built.values.length}`);
  }
  if (after !== undefined) {
    built.add('from', after, (value) => `s.session_id > ${value}`);
    built.outcomeConditions.push(`o.session_id > $${built.values.length}`);
  }
}

function lower(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

/** The condition that the state of a session is one of the states. */
function isInStates(states: string): string {
  const ended = OUTCOMES.map((outcome) => `('${outcome}' = any (${states}) and ${hasOutcome(outcome)})`);
  return `(${[`${ACTIVE_STATE} = any (${states})`, ...ended].join(' or ')})`;
}

/**
 * One branch for the states of unfinished turns, and one for each outcome, so that each branch reads its index in the
 * order of the page. PostgreSQL does not execute the branches of states that are not requested. A session is in one
 * state, and all branches see the same snapshot, so no session occurs twice.
 */
function stateBranches(
  { ownerId, agentId }: SessionFilter,
  sql: { states: string; unfinished: string; outcomeConditions: readonly string[] },
  branch: (source: string, conditions: string[]) => string,
): string[] {
  const { states, unfinished, outcomeConditions } = sql;
  const isActive = `${states} && ${textArray(ACTIVE_STATES)}`;
  const active = branch('sessions s', [isActive, unfinished, `${ACTIVE_STATE} = any (${states})`]);
  const scope = ownerId !== undefined ? ['o.owner_id = $2'] : agentId ? ['o.agent_id = $2'] : [];
  const ended = OUTCOMES.map((outcome) => {
    const conditions = [`'${outcome}' = any (${states})`, hasOutcome(outcome)];
    // Most sessions are completed, so those of all owners are found among the newest sessions.
    if (ownerId === undefined && outcome === 'completed') return branch('sessions s', conditions);
    const source = `(
      select o.session_id from session_outcomes o
      where ${[...scope, `o.outcome = '${outcome}'`, ...outcomeConditions].join(' and ')}
      order by o.session_id desc
    ) o join sessions s using (session_id)`;
    return branch(source, conditions);
  });
  return [active, ...ended];
}
