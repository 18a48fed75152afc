import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApprovals } from '../../../services/sessions/store/approvals.ts';
import { createClientCalls } from '../../../services/sessions/store/client-calls.ts';
import { createEventStore } from '../../../services/sessions/store/events.ts';
import { HISTORY } from '../../../services/sessions/store/history.ts';
import { createLists } from '../../../services/sessions/store/lists.ts';
import {
  ALICE,
  BOB,
  openRowLevelSecurity,
  type RowLevelSecurityFixture,
  undeclaredStatement,
} from '../../support/row-level-security.ts';
import { runOn } from '../../support/sql.ts';

const ALICES_SESSION = 'ses_0000000000000000000000000A';
const BOBS_SESSION = 'ses_0000000000000000000000000B';
const TABLES = [
  'approvals',
  'chat_prefixes',
  'client_calls',
  'heads',
  'journal',
  'session_environments',
  'session_metadata',
  'session_outcomes',
  'sessions',
  'turns',
];

const rowsOf = (sessionId: string, owner: string) => {
  const letter = sessionId.slice(-1);
  return `
    insert into sessions (session_id, owner_id, agent_id, agent_version, title, created_at, metadata)
      values ('${sessionId}', '${owner}', 'agt_1', 1, 'of ${letter}', now(), '{"team":"blue"}');
    insert into heads (session_id, last_seq, status, updated_at) values ('${sessionId}', 1, 'idle', now());
    insert into journal (session_id, first_seq, last_seq, types, bytes, events)
      values ('${sessionId}', 1, 1, '{user.message}', 2, '[{"seq":1,"type":"user.message"}]');
    insert into turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, status, ready, created_at)
      values ('${sessionId}', 1, 'trn_${letter}', '${owner}', 'agt_1', 1, 0, 'queued', false, now());
    insert into approvals (approval_id, session_id, turn_id, kind, tool_use_id, tool_name, input, input_sha256,
                           requested_by, created_at, expires_at)
      values ('apr_${letter}', '${sessionId}', 'trn_${letter}', 'tool', 'call', 'tool', '{}', '', 'agt_1', now(), now());
    insert into client_calls (event_id, session_id, turn_id, tool_use_id, kind, name, input, created_at, expires_at)
      values ('evt_${letter}', '${sessionId}', 'trn_${letter}', 'call', 'tool_result', 'tool', '{}', now(), now());
    insert into chat_prefixes (owner_id, key, session_id, turn_id, created_at)
      values ('${owner}', '\\x01', '${sessionId}', 'trn_${letter}', now());
    insert into session_environments (session_id, status) values ('${sessionId}', 'none');
    insert into session_outcomes (session_id, owner_id, agent_id, outcome)
      values ('${sessionId}', '${owner}', 'agt_1', 'failed');
    insert into sandboxes (sandbox_id, provider, isolation, status, tenancy, tenant_id, owner_id, runner_id,
                           environment_id, environment_version, limits, created_at, updated_at, seen_at)
      values ('sbx_${letter}', 'simulated', 'simulation', 'ready', 'session', '${sessionId}', '${owner}', 'rnr_1',
              'env_1', 1, '{}', now(), now(), now());
    insert into signals (kind, session_id, created_at) values ('session_deleted', '${sessionId}', now());`;
};

describe('row-level security of the sessions schema', () => {
  let wall: RowLevelSecurityFixture;
  beforeAll(async () => {
    wall = await openRowLevelSecurity('sessions');
    await runOn(
      wall.url,
      `set search_path = sessions; ${rowsOf(ALICES_SESSION, ALICE)} ${rowsOf(BOBS_SESSION, BOB)}`,
    );
  });
  afterAll(() => wall?.[Symbol.asyncDispose]());

  it('protects all tables with rows of users', async () => {
    expect(await wall.tablesWithoutPolicies()).toEqual(['idempotency_keys']);
    expect(await wall.readableTables()).toEqual(TABLES);
  });

  it.each(TABLES)('shows a user only their own rows of %s, and no rows without a user', async (table) => {
    const alicesRows = await wall.rowsVisibleTo(table, ALICE, 'session_id');
    const bobsRows = await wall.rowsVisibleTo(table, BOB, 'session_id');
    expect(alicesRows).toEqual([expect.objectContaining({ session_id: ALICES_SESSION })]);
    expect(bobsRows).toEqual([expect.objectContaining({ session_id: BOBS_SESSION })]);
    expect(await wall.rowsVisibleWithoutUser(table, 'session_id')).toEqual([]);
  });

  it('shows users all columns of their approvals but the state of the tool', async () => {
    expect(await wall.rowsVisibleTo('approvals', ALICE, 'details, content, via')).toHaveLength(1);
    expect(await wall.rowsVisibleTo('approvals', ALICE, 'state')).toBeUndefined();
  });

  it('denies users access to sandboxes, signals and idempotency keys', async () => {
    for (const table of ['sandboxes', 'signals', 'idempotency_keys'])
      expect(await wall.rowsVisibleTo(table, BOB)).toBeUndefined();
  });

  it('returns no rows of another user from any read of the stores', async () => {
    const lists = createLists(wall.db);
    const events = createEventStore(wall.db);
    const approvals = createApprovals(wall.db);
    const clientCalls = createClientCalls(wall.db);
    const page = { limit: 10, cursor: '' };
    const alices = {
      callerId: BOB,
      ownerId: ALICE,
      agentId: '',
      deploymentId: '',
      states: [],
      status: '',
      q: '',
      metadata: [],
    };
    const allOwners = { ...alices, ownerId: undefined };
    const range = { afterSeq: 0, lastSeq: 1, types: [], newestFirst: false };
    const read = async (userId: string) => {
      const by = { viewer: { userId } };
      return {
        session: (await lists.session(ALICES_SESSION, by))?.session_id,
        list: (await lists.sessions(alices, page, by)).rows.length,
        all: (await lists.sessions(allOwners, page, by)).rows.map((row) => row.owner_id),
        searched: (await lists.sessions({ ...allOwners, q: 'of ' }, page, by)).rows.map(
          (row) => row.owner_id,
        ),
        working: (await lists.sessions({ ...allOwners, status: 'pending' }, page, by)).rows.length,
        turns: (await lists.turns(ALICES_SESSION, page, undefined, by)).rows.length,
        unfinished: (await lists.turns(ALICES_SESSION, page, ALICE, by)).rows.length,
        turn: (await lists.turn(ALICES_SESSION, 'trn_A', by))?.turn_id,
        events: (await events.page(ALICES_SESSION, range, page, by)).events.length,
        history: (await events.history(ALICES_SESSION, HISTORY, page, by)).events.length,
        approvals: (await approvals.page(ALICES_SESSION, '', page, by)).rows.length,
        approval: (await approvals.one(ALICES_SESSION, 'apr_A', by))?.approval_id,
        clientCalls: (await clientCalls.page(ALICES_SESSION, '', page, by)).rows.length,
        clientCall: (await clientCalls.newest(ALICES_SESSION, 'call', by))?.event_id,
      };
    };
    expect(await read(BOB)).toEqual({
      session: undefined,
      list: 0,
      all: [BOB],
      searched: [BOB],
      working: 0,
      turns: 0,
      unfinished: 0,
      turn: undefined,
      events: 0,
      history: 0,
      approvals: 0,
      approval: undefined,
      clientCalls: 0,
      clientCall: undefined,
    });
    expect(await read(ALICE)).toMatchObject({
      session: ALICES_SESSION,
      turns: 1,
      events: 1,
      history: 1,
      approval: 'apr_A',
    });
  });

  it.each([
    `update sessions.sessions set title = 'his'`,
    'delete from sessions.sessions',
    `update sessions.turns set status = 'cancelled'`,
    'delete from sessions.journal',
    `insert into sessions.approvals select * from sessions.approvals`,
  ])('denies a write on behalf of a user: %s', async (text) => {
    const change = wall.db.change(undeclaredStatement(text), [], { viewer: { userId: BOB } });
    await expect(change).rejects.toThrow('permission denied');
  });
});
