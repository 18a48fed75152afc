import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { declaredStatements } from '../../../../lib/db/database.ts';
import { queryPlansOf } from '../../../support/query-plans.ts';
import { OWNER } from '../system.ts';
import { openWorkSystem, type WorkSystem } from './work-fixtures.ts';

/* The cost of work on channels does not grow with the number of old deliveries, idle conversations and told posts. */

const STORES = /^(channel_work|conversation_work|conversations|delivery_work|links|posts)\./;
const TABLES = ['deliveries', 'conversations', 'conversation_people', 'posts', 'links', 'link_codes'];
/** Indexes of open work alone, which are read from their beginning. */
const SHORT = [
  'deliveries_ready',
  'conversations_ready',
  'conversations_held',
  'deliveries_pending',
  'posts_open',
];
const FILL = [
  `insert into deployments (deployment_id, created_by, agent_id, type, status, name, metadata, revision, created_at,
     updated_at)
   select 'dep_' || i, '${OWNER.userId}', 'agt_' || i, 'channel', 'enabled', 'C', '{}', 1, now(), now()
   from generate_series(1, 100) i`,
  `insert into channels (deployment_id, owner_id, provider, config, sealed_credentials, credentials, is_enabled)
   select 'dep_' || i, '${OWNER.userId}', 'http', '{}', '', '[]', true from generate_series(1, 100) i`,
  `insert into conversations (deployment_id, conversation, owner_id, place, session_id, is_engaged, ready_at, last_in_at,
     created_at)
   select 'dep_' || (i % 100 + 1), 'C' || i, '${OWNER.userId}', '{}', 'ses_' || i, i % 200 = 0,
     case when i % 200 = 0 then now() end, now(), now()
   from generate_series(1, 20000) i`,
  `insert into conversation_people (deployment_id, conversation, team, external_id, name, last_in_at)
   select deployment_id, conversation, '', 'U' || conversation, 'Uma', now() from conversations`,
  `insert into deliveries (delivery_id, deployment_id, owner_id, dedupe_key, kind, result, conversation, size, ready_at,
     created_at, turn_id, payload)
   select 'dlv_' || i, 'dep_' || (i % 100 + 1), '${OWNER.userId}', 'e' || i, 'message',
     case when i % 200 = 0 then 'pending' else 'accepted' end, 'C' || i, 1, case when i % 200 = 0 then now() end, now(),
     'trn_' || i, ''
   from generate_series(1, 20000) i`,
  `insert into posts (post_id, deployment_id, conversation, owner_id, session_id, turn_id, kind, state, created_at,
     updated_at, change)
   select 'pst_' || i, 'dep_' || (i % 100 + 1), 'C' || i, '${OWNER.userId}', 'ses_' || i, 'trn_' || i, 'message',
     case when i % 200 = 0 then 'wanted' else 'posted' end, now(), now(), i
   from generate_series(1, 20000) i`,
  `insert into links (link_id, provider, team, external_id, external_name, user_id, how, created_at)
   select 'lnk_' || i, 'http', '', 'U' || i, 'Uma', 'usr_' || (i % 1000), 'confirmed', now()
   from generate_series(1, 20000) i`,
  `insert into link_codes (code_sha256, deployment_id, provider, team, external_id, external_name, expires_at, created_at)
   select sha256(i::text::bytea), 'dep_1', 'http', '', 'U' || i, 'Uma', now() + interval '5 minutes', now()
   from generate_series(1, 5000) i`,
  'analyze',
];

describe('query plans of the work on channels', () => {
  let system: WorkSystem;
  beforeAll(async () => {
    system = await openWorkSystem();
    for (const text of FILL) await system.sql(text);
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  it('use indexes', async () => {
    const plans = {
      ...queryPlansOf(system.context.databaseUrl, 'deployments'),
      statements: () => declaredStatements().filter(({ name }) => STORES.test(name)),
    };
    expect(plans.statements().length).toBeGreaterThan(35);
    expect(await plans.wholeScans(TABLES, SHORT)).toEqual([]);
  });
});
