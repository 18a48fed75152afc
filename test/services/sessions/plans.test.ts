import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plansOf } from '../../support/plans.ts';
import { runOn } from '../../support/sql.ts';
import { converse, OWNER, openHouse } from './house.ts';

/*
 * No statement of sessions reads a table from one end to the other, whatever it is asked for: what a request costs
 * does not grow with what it does not ask for.
 */

const SESSIONS = 20_000;
const EVENTS = 20_000;
/** Indexes of what is to be done: they are short, and read from their beginning. */
const SHORT = ['turns_ready', 'turns_behind', 'turns_leased', 'turns_asleep', 'turns_one_at_a_time'];
/** Tables that grow without end. */
const TABLES = ['sessions', 'heads', 'journal', 'turns', 'approvals', 'sandboxes', 'session_environments'];

/** Half of the sessions belong to one owner; a hundredth has something to do. */
const FILL = `
  set search_path = sessions;
  insert into sessions (session_id, owner_id, agent_id, agent_version, deployment_id, created_at, archived_at)
    select 'ses_' || lpad(i::text, 26, '0'), 'usr_' || (i % 2), 'agt_' || (i % 100), 1,
      case when i % 3 = 0 then 'dep_' || (i % 10) end, now(), case when i % 50 = 0 then now() end
    from generate_series(1, ${SESSIONS}) i;
  insert into heads (session_id, last_seq, status, updated_at)
    select session_id, 10, 'idle', now() from sessions where session_id like 'ses_00%';
  insert into turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, status, ready,
                     lease_until, wake_at, created_at, finished_at)
    select s.session_id, p, 'trn_' || right(s.session_id, 22) || p, s.owner_id, s.agent_id, 1, 1,
      case when busy then (array['queued', 'in_progress', 'blocked', 'queued'])[1 + n % 4] else 'completed' end,
      busy and n % 4 = 0, case when busy and n % 4 = 1 then now() + interval '15 s' end,
      case when busy and n % 4 = 3 then now() + interval '1 h' end, now(), case when not busy then now() end
    from (select *, row_number() over () as n from sessions where session_id like 'ses_00%') s
      cross join generate_series(1, 2) p
      cross join lateral (select s.n % 100 < 4 and p = 2 as busy) b;
  insert into journal (session_id, first_seq, last_seq, types, bytes, events)
    select session_id, 1, 10, array['session.created', 'user.message'], 100, '[]'
    from sessions where session_id like 'ses_00%';
  insert into journal (session_id, first_seq, last_seq, types, bytes, events)
    select 'ses_' || lpad('1', 26, '0'), 10 + i, 10 + i,
      array[case when i % 100 = 0 then 'agent.message' else 'agent.message_delta' end], 100, '[]'
    from generate_series(1, ${EVENTS}) i;
  insert into approvals (approval_id, session_id, turn_id, kind, tool_use_id, tool_name, input, input_sha256,
                         requested_by, status, created_at, expires_at)
    select 'apr_' || lpad(i::text, 26, '0'), 'ses_' || lpad((i / 2)::text, 26, '0'), 'trn_1', 'tool', 'call', 'tool',
      '{}', '', 'agt_1', case when i % 100 = 0 then 'pending' else 'decided' end, now(), now() + interval '1 d'
    from generate_series(1, ${SESSIONS}) i;
  insert into sandboxes (sandbox_id, provider, isolation, status, tenancy, tenant_id, owner_id, runner_id, environment_id,
                         environment_version, limits, created_at, updated_at, seen_at, ended_at)
    select 'sbx_' || lpad(i::text, 26, '0'), 'simulated', 'simulation', 'ready', 'session',
      'ses_' || lpad(i::text, 26, '0'), 'usr_1', 'rnr_' || (i % 20), 'env_1', 1, '{}', now(), now(), now(),
      case when i % 20 <> 0 then now() end
    from generate_series(1, ${SESSIONS}) i;
  insert into session_environments (session_id, status, sandbox_id, provider)
    select tenant_id, 'ready', sandbox_id, provider from sandboxes;
  analyze;`;

describe('the plans of sessions’ statements', () => {
  let house: Awaited<ReturnType<typeof openHouse>>;
  beforeAll(async () => {
    house = await openHouse('in process');
    await converse(house, 'hello');
    await runOn(house.database.url, FILL);
    // Each combination of filters is a statement of its own.
    const filters = [
      {},
      { agentId: 'agt_1' },
      { deploymentId: 'dep_1' },
      { status: 'running' },
      { status: 'rescheduling', agentId: 'agt_1' },
      { needsAction: true },
      { archived: true },
      { q: 'hello' },
    ];
    const page = { limit: 1, cursor: '' };
    for (const filter of filters) {
      const asked = { agentId: '', deploymentId: '', status: '', q: '', ...filter };
      const first = await house.edge.listSessions({ ...asked, page }, { caller: OWNER });
      const cursor = first.page?.nextCursor ?? '';
      if (cursor) await house.edge.listSessions({ ...asked, page: { limit: 1, cursor } }, { caller: OWNER });
    }
  });
  afterAll(() => house[Symbol.asyncDispose]());

  it('read by index', async () => {
    const plans = plansOf(house.database.url, 'sessions');
    expect(plans.statements().length).toBeGreaterThan(40);
    expect(await plans.wholeScans(TABLES, SHORT)).toEqual([]);
  });

  it('read by index also where policies ask whose a row is', async () => {
    const plans = plansOf(house.database.url, 'sessions', 'usr_1');
    const id = `'ses_${'0'.repeat(25)}1'`;
    expect(await plans.blocksOf('sessions.by_id', [id])).toBeGreaterThan(0);
    expect(await plans.wholeScans(TABLES, SHORT)).toEqual([]);
    const events = await plans.blocksOf('sessions.events_after', [id, '100', '50', '1000000']);
    expect(events).toBeLessThan(500);
  });
});
