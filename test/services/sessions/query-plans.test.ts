import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryPlansOf } from '../../support/query-plans.ts';
import { runOn } from '../../support/sql.ts';
import { ADMINISTRATOR, createConversation, OWNER, openSystem } from './system.ts';

/*
 * No statement of the service scans a whole table, so that the cost of a request does not grow with rows that it does
 * not return.
 */

const SESSIONS = 20_000;
const EVENTS = 20_000;
/** Indexes of unfinished work. They are short, or read up to a limit. */
const SHORT = [
  'turns_ready',
  'turns_behind',
  'turns_leased',
  'turns_asleep',
  'turns_one_at_a_time',
  'approvals_pending',
  'client_calls_pending',
  'sandboxes_unseen',
  'signals_pkey',
];
/** Tables that grow without a limit. */
const TABLES = [
  'sessions',
  'heads',
  'journal',
  'turns',
  'approvals',
  'chat_prefixes',
  'client_calls',
  'sandboxes',
  'session_environments',
  'session_outcomes',
  'session_metadata',
  'signals',
];
/** Each combination of filters is a statement of this name. Other test files of this process may declare more of them. */
const TEAM = { key: 'team', value: 'blue' };
/** Half of the sessions have entries of these, which suffice for plans. */
const FREQUENT = [
  { key: 'a', value: '1' },
  { key: 'b', value: '1' },
];
const LISTS: [object, string][] = [
  [{}, 'sessions.list_owner_kept'],
  [{ agentId: 'agt_1' }, 'sessions.list_owner_agent_kept'],
  [{ deploymentId: 'dep_1' }, 'sessions.list_owner_deployment_kept'],
  [{ status: 'running' }, 'sessions.list_owner_status_at_work_kept'],
  [{ status: 'rescheduling', agentId: 'agt_1' }, 'sessions.list_owner_agent_status_at_work_kept'],
  [{ needsAction: true }, 'sessions.list_owner_at_work_action_kept'],
  [{ archived: true }, 'sessions.list_owner_archived'],
  [{ states: ['running', 'failed'] }, 'sessions.list_owner_states_kept'],
  [{ q: 'hello' }, 'sessions.list_owner_q_kept'],
  [{ metadata: { members: [TEAM] } }, 'sessions.list_owner_kept_metadata_by_metadata'],
  [
    { agentId: 'agt_1', metadata: { members: [TEAM] } },
    'sessions.list_owner_agent_kept_metadata_by_metadata',
  ],
  [{ archived: true, metadata: { members: [TEAM] } }, 'sessions.list_owner_archived_metadata_by_metadata'],
  [
    { states: ['completed'], metadata: { members: [TEAM] } },
    'sessions.list_owner_states_kept_metadata_by_metadata',
  ],
  [{ states: ['running'], metadata: { members: [TEAM] } }, 'sessions.list_owner_states_kept_metadata'],
  [
    { metadata: { members: [TEAM, ...FREQUENT] } },
    'sessions.list_owner_kept_metadata_metadata_metadata_by_metadata',
  ],
  [
    { agentId: 'agt_1', metadata: { members: FREQUENT } },
    'sessions.list_owner_agent_kept_metadata_metadata_by_metadata',
  ],
  [
    { reach: 'all', metadata: { members: FREQUENT } },
    'sessions.list_kept_metadata_metadata_by_frequent_metadata',
  ],
  [
    { reach: 'all', states: ['failed'], metadata: { members: [{ key: 'team', value: 'none' }] } },
    'sessions.list_states_kept_metadata_by_metadata_failed',
  ],
  [
    { states: ['failed'], metadata: { members: FREQUENT.slice(1) } },
    'sessions.list_owner_states_kept_metadata_by_state',
  ],
];
/** The statements that count the entries of the filters above. */
const COUNT_NAMES = [
  'owner_kept_1',
  'owner_kept_1_failed',
  'owner_kept_3',
  'owner_agent_kept_2',
  'all_kept_1_failed',
  'all_kept_2',
].map((name) => `sessions.count_metadata_${name}`);
/** Other test files of this process may declare more of these. */
const isListed = (name: string) => /^sessions\.(list|count_metadata)_/.test(name);
const LIST_NAMES = LISTS.flatMap(([, name]) => [name, `${name}_before`]);

/** Half of the sessions belong to one owner. One in a hundred has an unfinished turn. */
const FILL = `
  set search_path = sessions;
  insert into sessions (session_id, owner_id, agent_id, agent_version, deployment_id, created_at, archived_at, metadata)
    select 'ses_' || lpad(i::text, 26, '0'), 'usr_' || (i % 2), 'agt_' || (i % 100), 1,
      case when i % 3 = 0 then 'dep_' || (i % 10) end, now(), case when i % 50 = 0 then now() end,
      case when i % 5 = 0 then '{"team":"blue"}' else '{}' end::json
    from generate_series(1, ${SESSIONS}) i;
  insert into session_outcomes (session_id, owner_id, agent_id, outcome)
    select session_id, owner_id, agent_id, case when random() < 0.01 then 'failed' else 'completed' end
    from sessions where session_id like 'ses_00%';
  insert into heads (session_id, last_seq, status, stop_reason, updated_at)
    select session_id, 10, 'idle', json_build_object('type', case outcome when 'failed' then outcome else 'end_turn' end),
      now()
    from session_outcomes;
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
  insert into client_calls (event_id, session_id, turn_id, tool_use_id, kind, name, input, status, created_at, expires_at)
    select 'evt_' || lpad(i::text, 26, '0'), 'ses_' || lpad((i / 2)::text, 26, '0'), 'trn_1', 'call_' || i, 'tool_result',
      'tool', '{}', case when i % 100 = 0 then 'pending' else 'answered' end, now(), now() + interval '1 d'
    from generate_series(1, ${SESSIONS}) i;
  insert into sandboxes (sandbox_id, provider, isolation, status, tenancy, tenant_id, owner_id, runner_id, environment_id,
                         environment_version, limits, created_at, updated_at, seen_at, ended_at)
    select 'sbx_' || lpad(i::text, 26, '0'), 'simulated', 'simulation', 'ready', 'session',
      'ses_' || lpad(i::text, 26, '0'), 'usr_1', 'rnr_' || (i % 20), 'env_1', 1, '{}', now(), now(), now(),
      case when i % 20 <> 0 then now() end
    from generate_series(1, ${SESSIONS}) i;
  insert into session_environments (session_id, status, sandbox_id, provider)
    select tenant_id, 'ready', sandbox_id, provider from sandboxes;
  insert into chat_prefixes (owner_id, key, session_id, turn_id, created_at)
    select owner_id, sha256(session_id::bytea), session_id, 'trn_1', now() from sessions;
  insert into signals (kind, session_id, created_at) select 'turn_ended', session_id, now() from sessions;
  insert into session_metadata (owner_id, archived, term, session_id, agent_id)
    select owner_id, false, hashtextextended(member, 0), session_id, agent_id
    from sessions cross join unnest(array['a=1', 'b=1']) member
    where session_id <= 'ses_' || lpad('10001', 26, '0');
  analyze;`;

/** Statements that run once in many seconds. Their plans are renewed when autovacuum has counted the rows. */
const RARE = ['sessions.forget_sandboxes', 'sessions.measure_work', 'sessions.unstick_turns'];
/** Turns in progress, which the lookup of one turn reads as long as the table is new. */
const RUNNING = 'turns_running';

describe('query plans of the sessions service', () => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem('in process');
    await createConversation(system, 'hello');
    await runOn(system.database.url, FILL);
    const page = { limit: 1, cursor: '' };
    for (const [filter] of LISTS) {
      const filters = { agentId: '', deploymentId: '', states: [], status: '', q: '', ...filter };
      const caller = 'reach' in filter ? ADMINISTRATOR : OWNER;
      const first = await system.edge.listSessions({ ...filters, page }, { caller });
      const cursor = first.page?.nextCursor ?? '';
      if (cursor) await system.edge.listSessions({ ...filters, page: { limit: 1, cursor } }, { caller });
    }
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const wholeScans = async (plans: ReturnType<typeof queryPlansOf>) => {
    const scans = await plans.wholeScans(TABLES, SHORT);
    return scans.filter((scan) => {
      const [name = ''] = scan.split(':');
      return !isListed(name) || [...LIST_NAMES, ...COUNT_NAMES].includes(name);
    });
  };

  it('use an index for every read of a growing table', async () => {
    const plans = queryPlansOf(system.database.url, 'sessions');
    const names = plans.statements().map(({ name }) => name);
    expect(names.length).toBeGreaterThan(40);
    expect(names).toEqual(expect.arrayContaining([...LISTS.map(([, name]) => name), ...COUNT_NAMES]));
    expect(await wholeScans(plans)).toEqual([]);
  });

  it('are lookups on new tables, too, because prepared plans stay in use while the tables grow', async () => {
    await using empty = await openSystem('in process');
    const scans = await queryPlansOf(empty.database.url, 'sessions').wholeScans(TABLES, [...SHORT, RUNNING]);
    const names = scans.map((scan) => scan.split(':')[0] ?? '');
    const isRelevant = (name: string) => !RARE.includes(name) && !isListed(name);
    expect(names.filter(isRelevant)).toEqual([]);
  });

  it('search for ready turns without reading the turns of an agent at its limit', async () => {
    const plans = queryPlansOf(system.database.url, 'sessions');
    const turns = (count: number, prefix: string, columns: string) => `
      insert into sessions.turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, ready,
                                  status, created_at)
      select '${prefix}' || i, 2, '${prefix}' || i, 'usr_1', 'agt_full', 1, 0, ${columns}, now()
      from generate_series(1, ${count}) i;`;
    await runOn(system.database.url, turns(SESSIONS, 'ready', "true, 'queued'"));
    await runOn(system.database.url, turns(100, 'running', "false, 'in_progress'"));
    // The number of pages depends on it, and must not depend on when autovacuum runs.
    await runOn(system.database.url, 'vacuum sessions.turns');
    const search = ["''", "''", '100', '32', '16', '10', "'{}'", "'{}'", "'{}'"];
    const blocks = await plans.blocksOf('sessions.ready_turns', search);
    expect(blocks).toBeGreaterThan(10);
    expect(blocks).toBeLessThan(300);
  });

  it('use an index under row-level security, too', async () => {
    const plans = queryPlansOf(system.database.url, 'sessions', 'usr_1');
    const id = `'ses_${'0'.repeat(25)}1'`;
    expect(await plans.blocksOf('sessions.by_id', [id])).toBeGreaterThan(0);
    expect(await wholeScans(plans)).toEqual([]);
    const events = await plans.blocksOf('sessions.events_after', [id, '100', '50', '1000000']);
    expect(events).toBeLessThan(500);
  });
});
