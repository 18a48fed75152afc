import { type Statement, statement } from '../../../lib/db/database.ts';
import { statementName } from '../../../lib/db/statement-name.ts';
import type { IdRange } from '../../../lib/ids.ts';
import type { Outcome } from '../domain/derived-state.ts';

/** A member that the metadata of a listed session must have. */
export interface MetadataMember {
  key: string;
  value: string;
}

/** The rows of `session_metadata` that a list can read. */
export interface MetadataScope {
  /** Undefined for the sessions of all owners. */
  ownerId: string | undefined;
  /** Empty for all agents. */
  agentId: string;
  archived: boolean;
}

/** Collects the values of a statement. */
export type AddValue = (value: unknown) => string;

/** The conditions on a row `alias` of `session_metadata`: that it is in the scope. */
function scopeConditions(
  alias: string,
  { ownerId, agentId, archived }: MetadataScope,
  add: AddValue,
): string {
  return [
    ...(ownerId === undefined ? [] : [`${alias}.owner_id = ${add(ownerId)}`]),
    ...(agentId === '' ? [] : [`${alias}.agent_id = ${add(agentId)}`]),
    `${alias}.archived = ${archived}`,
  ].join(' and ');
}

/** The hash by which migration indexes a member. */
const termOf = ({ key, value }: MetadataMember, add: AddValue) =>
  `hashtextextended(${add(key)}::text || '=' || ${add(value)}::text, 0)`;

/** The condition on a session `s` that its metadata has the member. */
export const hasMember = ({ key, value }: MetadataMember, add: AddValue) =>
  `s.metadata ->> ${add(key)}::text = ${add(value)}::text`;

/**
 * A source of sessions `s` in the order of their entries for a member. The lateral join with a limit keeps the planner from
 * another order, in which the cost depends on its estimates.
 */
export function sessionsWithMember(
  scope: MetadataScope,
  member: MetadataMember,
  { after, before }: IdRange,
  add: AddValue,
): string {
  return `(
      select m.session_id from session_metadata m
      where ${scopeConditions('m', scope, add)} and m.term = ${termOf(member, add)}
        ${before === undefined ? '' : `and m.session_id < ${add(before)}`}
        ${after === undefined ? '' : `and m.session_id > ${add(after)}`}
      order by m.session_id desc
    ) m cross join lateral (select * from sessions s where s.session_id = m.session_id limit 1) s`;
}

/** Counts end here: both filters are frequent then, and reading either index soon finds enough sessions. */
const COUNT_LIMIT = 10_000;

const countOf = (entries: string) =>
  `(select count(*)::integer from (select ${entries} limit ${COUNT_LIMIT}) entries)`;

/**
 * Returns the statement that counts the entries of each member, and those of the outcomes of the states, up to 10,000. Its row
 * has one array.
 */
export function countStatement(
  scope: MetadataScope,
  members: readonly MetadataMember[],
  outcomes: readonly Outcome[],
): { query: Statement; values: unknown[] } {
  const values: unknown[] = [];
  const add: AddValue = (value) => `$${values.push(value)}`;
  const counts = members.map((member) =>
    countOf(
      `from session_metadata m where ${scopeConditions('m', scope, add)} and m.term = ${termOf(member, add)}`,
    ),
  );
  const { ownerId, agentId } = scope;
  if (outcomes.length > 0) {
    const owner =
      ownerId !== undefined
        ? `o.owner_id = ${add(ownerId)} and`
        : agentId
          ? `o.agent_id = ${add(agentId)} and`
          : '';
    const indexed = outcomes.map((outcome) => `o.outcome = '${outcome}'`);
    counts.push(countOf(`from session_outcomes o where ${owner} (${indexed.join(' or ')})`));
  }
  const parts = [
    ownerId === undefined ? 'all' : 'owner',
    ...(agentId ? ['agent'] : []),
    scope.archived ? 'archived' : 'kept',
    String(members.length),
    ...outcomes,
  ];
  return {
    query: statement(
      statementName('sessions.count_metadata', parts),
      `select array[${counts.join(', ')}] as counts`,
    ),
    values,
  };
}
