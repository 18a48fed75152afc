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

/** The member whose entries a page of sessions is taken from. */
export interface MetadataDriver {
  member: MetadataMember;
  /** Whether the other members are frequent, too. */
  isFrequent: boolean;
}

/** What entries must have besides their member. */
export interface EntryConditions {
  members: readonly MetadataMember[];
  /** Empty for sessions in any state. */
  outcomes: readonly Outcome[];
}

/**
 * A source of sessions `s` in the order of their entries for a member. The lateral join with a limit keeps the planner from
 * another order, in which the cost depends on its estimates. Indexes exclude entries without the other members or outcomes,
 * because reading the session of each entry takes several times longer. They are searched for each entry of a rare member. The
 * planner can merge the entries of members that are all frequent, in the order of the page.
 */
export function sessionsWithMember(
  scope: MetadataScope,
  { member, isFrequent }: MetadataDriver,
  { members, outcomes }: EntryConditions,
  { after, before }: IdRange,
  add: AddValue,
): string {
  const search = isFrequent ? '' : SEARCH_EACH;
  const others = members.filter(({ key }) => key !== member.key);
  const conditions = [
    ...others.map((other) => hasEntry('m', scope, other, add, search)),
    ...(outcomes.length === 0
      ? []
      : [`exists (${outcomesOf('o', scope, outcomes, add)} and o.session_id = m.session_id ${SEARCH_EACH})`]),
  ];
  return `(
      select m.session_id from session_metadata m
      where ${scopeConditions('m', scope, add)} and m.term = ${termOf(member, add)}
        ${conditions.map((condition) => `and ${condition}`).join(' ')}
        ${before === undefined ? '' : `and m.session_id < ${add(before)}`}
        ${after === undefined ? '' : `and m.session_id > ${add(after)}`}
      order by m.session_id desc
    ) m cross join lateral (select * from sessions s where s.session_id = m.session_id limit 1) s`;
}

/** Keeps a subquery from becoming a join, so that it is executed for each row. */
const SEARCH_EACH = 'offset 0';

/** The condition on a row `alias` with a session id that the session has an entry for a member. */
export const hasEntry = (
  alias: string,
  scope: MetadataScope,
  member: MetadataMember,
  add: AddValue,
  search = SEARCH_EACH,
) =>
  `exists (
          select from session_metadata n
          where ${scopeConditions('n', scope, add)} and n.term = ${termOf(member, add)}
            and n.session_id = ${alias}.session_id ${search}
        )`;

/** Selects the rows `alias` of `session_outcomes` with one of these outcomes. Each is a condition of partial indexes. */
function outcomesOf(
  alias: string,
  { ownerId, agentId }: MetadataScope,
  outcomes: readonly Outcome[],
  add: AddValue,
): string {
  const owner =
    ownerId !== undefined
      ? `${alias}.owner_id = ${add(ownerId)} and`
      : agentId
        ? `${alias}.agent_id = ${add(agentId)} and`
        : '';
  const indexed = outcomes.map((outcome) => `${alias}.outcome = '${outcome}'`);
  return `select from session_outcomes ${alias} where ${owner} (${indexed.join(' or ')})`;
}

/** Counts end here: both filters are frequent then, and reading either index soon finds enough sessions. */
export const COUNT_LIMIT = 10_000;

const countOf = (entries: string) =>
  `(select count(*)::integer from (${entries} limit ${COUNT_LIMIT}) entries)`;

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
      `select from session_metadata m where ${scopeConditions('m', scope, add)} and m.term = ${termOf(member, add)}`,
    ),
  );
  const { ownerId, agentId } = scope;
  if (outcomes.length > 0) counts.push(countOf(outcomesOf('o', scope, outcomes, add)));
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
