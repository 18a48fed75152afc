import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApprovals } from '../../../services/sessions/store/approvals.ts';
import { createEventStore, HISTORY } from '../../../services/sessions/store/events.ts';
import { createLists } from '../../../services/sessions/store/lists.ts';
import { runOn } from '../../support/sql.ts';
import { ALICE, BOB, foreign, openWall, type Wall } from '../../support/wall.ts';

const HERS = 'ses_0000000000000000000000000A';
const HIS = 'ses_0000000000000000000000000B';
const TABLES = ['approvals', 'heads', 'journal', 'session_environments', 'sessions', 'turns'];

const rowsOf = (sessionId: string, owner: string) => {
  const letter = sessionId.slice(-1);
  return `
    insert into sessions (session_id, owner_id, agent_id, agent_version, title, created_at)
      values ('${sessionId}', '${owner}', 'agt_1', 1, 'of ${letter}', now());
    insert into heads (session_id, last_seq, status, updated_at) values ('${sessionId}', 1, 'idle', now());
    insert into journal (session_id, first_seq, last_seq, types, bytes, events)
      values ('${sessionId}', 1, 1, '{user.message}', 2, '[{"seq":1,"type":"user.message"}]');
    insert into turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, status, ready, created_at)
      values ('${sessionId}', 1, 'trn_${letter}', '${owner}', 'agt_1', 1, 0, 'queued', false, now());
    insert into approvals (approval_id, session_id, turn_id, kind, tool_use_id, tool_name, input, input_sha256,
                           requested_by, created_at, expires_at)
      values ('apr_${letter}', '${sessionId}', 'trn_${letter}', 'tool', 'call', 'tool', '{}', '', 'agt_1', now(), now());
    insert into session_environments (session_id, status) values ('${sessionId}', 'none');
    insert into sandboxes (sandbox_id, provider, isolation, status, tenancy, tenant_id, owner_id, runner_id,
                           environment_id, environment_version, limits, created_at, updated_at, seen_at)
      values ('sbx_${letter}', 'simulated', 'simulation', 'ready', 'session', '${sessionId}', '${owner}', 'rnr_1',
              'env_1', 1, '{}', now(), now(), now());`;
};

describe('sessions without their first wall', () => {
  let wall: Wall;
  beforeAll(async () => {
    wall = await openWall('sessions');
    await runOn(wall.url, `set search_path = sessions; ${rowsOf(HERS, ALICE)} ${rowsOf(HIS, BOB)}`);
  });
  afterAll(() => wall?.[Symbol.asyncDispose]());

  it('guard all tables with rows of somebody', async () => {
    expect(await wall.unguarded()).toEqual(['idempotency_keys']);
    expect(await wall.open()).toEqual(TABLES);
  });

  it.each(TABLES)('show of %s to everybody their own, and nothing to nobody', async (table) => {
    const hers = await wall.everythingIn(table, ALICE);
    const his = await wall.everythingIn(table, BOB);
    expect(hers).toEqual([expect.objectContaining({ session_id: HERS })]);
    expect(his).toEqual([expect.objectContaining({ session_id: HIS })]);
    expect(await wall.nothingIn(table)).toEqual([]);
  });

  it('show nobody a sandbox, or the answers to others’ requests', async () => {
    for (const table of ['sandboxes', 'idempotency_keys'])
      expect(await wall.everythingIn(table, BOB)).toBeUndefined();
  });

  it('read nothing of what is hers for him, though they are asked for it', async () => {
    const lists = createLists(wall.db);
    const events = createEventStore(wall.db);
    const approvals = createApprovals(wall.db);
    const page = { limit: 10, cursor: '' };
    const hers = { callerId: BOB, ownerId: ALICE, agentId: '', deploymentId: '', status: '', q: '' };
    const everybodys = { ...hers, ownerId: undefined };
    const range = { afterSeq: 0, lastSeq: 1, types: [], newestFirst: false };
    const read = async (userId: string) => {
      const by = { viewer: { userId } };
      return {
        session: (await lists.session(HERS, by))?.session_id,
        list: (await lists.sessions(hers, page, by)).rows.length,
        all: (await lists.sessions(everybodys, page, by)).rows.map((row) => row.owner_id),
        searched: (await lists.sessions({ ...everybodys, q: 'of ' }, page, by)).rows.map(
          (row) => row.owner_id,
        ),
        working: (await lists.sessions({ ...everybodys, status: 'pending' }, page, by)).rows.length,
        turns: (await lists.turns(HERS, page, undefined, by)).rows.length,
        unfinished: (await lists.turns(HERS, page, ALICE, by)).rows.length,
        turn: (await lists.turn(HERS, 'trn_A', by))?.turn_id,
        events: (await events.page(HERS, range, page, by)).events.length,
        history: (await events.history(HERS, HISTORY, page, by)).events.length,
        approvals: (await approvals.page(HERS, '', page, by)).rows.length,
        approval: (await approvals.one(HERS, 'apr_A', by))?.approval_id,
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
    });
    expect(await read(ALICE)).toMatchObject({
      session: HERS,
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
  ])('change nothing for anybody but by the service itself: %s', async (text) => {
    const change = wall.db.change(foreign(text), [], { viewer: { userId: BOB } });
    await expect(change).rejects.toThrow('permission denied');
  });
});
