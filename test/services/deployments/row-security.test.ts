import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDeploymentStore } from '../../../services/deployments/store/deployments.ts';
import { createRefusalStore } from '../../../services/deployments/store/refusals.ts';
import {
  ALICE,
  BOB,
  openRowLevelSecurity,
  type RowLevelSecurityFixture,
  undeclaredStatement,
} from '../../support/row-level-security.ts';
import { countOn, runOn } from '../../support/sql.ts';

const ALICES = 'dep_0000000000000000000000000A';
const BOBS = 'dep_0000000000000000000000000B';
const AGENT = 'agt_00000000000000000000000001';

const OF_SCHEDULES = ['schedules', 'prompts', 'runs', 'backfills'];
const OF_CHANNELS = ['channels', 'connections'];

const rowsOf = (deploymentId: string, owner: string) => `
  insert into deployments (deployment_id, created_by, agent_id, type, status, sealed_secret, created_at, updated_at)
    values ('${deploymentId}', '${owner}', '${AGENT}', 'webhook', 'enabled', 'sealed', now(), now());
  insert into refusals (deployment_id, invocation_id, slot, reason, count, body_bytes, source_address, created_at)
    values ('${deploymentId}', 'inv_1', 'inv_1', 'disabled', 1, 0, '', now());
  insert into schedules (deployment_id, owner_id, kind, expression, timezone, dst_missing, dst_repeated, jitter_seconds,
      overlap, catch_up_seconds, session_mode, session_is_given, prompt_digest, pause_after_failures, count_failed_turns)
    values ('${deploymentId}', '${owner}', 'cron', '* * * * *', 'UTC', 'shift', 'first', 0, 'skip', 0, 'new', false, '', 0, false);
  insert into prompts (deployment_id, digest, text) values ('${deploymentId}', '', 'Work.');
  insert into runs (run_id, deployment_id, owner_id, slot, trigger, status, created_at)
    values ('run_${deploymentId}', '${deploymentId}', '${owner}', 'a', 'scheduled', 'skipped', now());
  insert into backfills (backfill_id, deployment_id, owner_id, from_at, until_at, overlap, skip_existing, count, created_by, created_at)
    values ('bkf_${deploymentId}', '${deploymentId}', '${owner}', now(), now(), 'allow', true, 0, '${owner}', now());
  insert into channels (deployment_id, owner_id, provider, config, sealed_credentials, credentials, is_enabled)
    values ('${deploymentId}', '${owner}', 'http', '{}', '', '[]', true);
  insert into connections (deployment_id, owner_id, provider, mode, wanted, revision, state, since)
    values ('${deploymentId}', '${owner}', 'http', 'pull', 'nothing', 1, 'connected', now());
  insert into idempotency_keys (caller, key, fingerprint, answer, created_at) values ('${owner}', 'k', '', '', now());`;

describe('row-level security of the deployments schema', () => {
  let fixture: RowLevelSecurityFixture;
  beforeAll(async () => {
    fixture = await openRowLevelSecurity('deployments');
    await runOn(fixture.url, `set search_path = deployments; ${rowsOf(ALICES, ALICE)} ${rowsOf(BOBS, BOB)}`);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  it('has policies for all tables', async () => {
    expect(await fixture.tablesWithoutPolicies()).toEqual([]);
  });

  it('shows a user only their own rows, and no rows without a user', async () => {
    const owned = { created_by: BOB };
    expect(await fixture.rowsVisibleTo('deployments', BOB)).toEqual([expect.objectContaining(owned)]);
    const refused = { deployment_id: BOBS };
    expect(await fixture.rowsVisibleTo('refusals', BOB)).toEqual([expect.objectContaining(refused)]);
    const answered = { caller: BOB };
    expect(await fixture.rowsVisibleTo('idempotency_keys', BOB)).toEqual([expect.objectContaining(answered)]);
    for (const table of [...OF_SCHEDULES, ...OF_CHANNELS])
      expect(await fixture.rowsVisibleTo(table, BOB)).toEqual([expect.objectContaining(refused)]);
    const all = ['deployments', 'refusals', 'idempotency_keys', ...OF_SCHEDULES, ...OF_CHANNELS];
    for (const table of all) expect(await fixture.rowsVisibleWithoutUser(table)).toEqual([]);
  });

  it('prevents reads and changes of the rows of another user', async () => {
    const store = createDeploymentStore(fixture.db);
    const refusals = createRefusalStore(fixture.db);
    const asBob = { viewer: { userId: BOB } };
    const ofAlice = { agentId: '', deploymentId: ALICES };
    const filter = { caller: BOB, scope: 'all' as const, agentId: '', type: '', status: '', q: '' };
    expect(await store.find(ofAlice, asBob)).toBeUndefined();
    const { rows } = await store.list({ filter, namedAgents: [], limit: 10, cursor: '' }, asBob);
    expect(rows.map(({ createdBy }) => createdBy)).toEqual([BOB]);
    const page = { caller: BOB, deploymentId: ALICES, limit: 10, cursor: '' };
    expect((await refusals.invocations(page, async () => [], asBob)).rows).toEqual([]);
    expect(await store.setStatus(ofAlice, 'disabled', new Date(), asBob)).toBeUndefined();
    expect(await store.remove(ofAlice, () => {}, undefined, asBob)).toBe(false);
    const change = (text: string) => fixture.db.change(undeclaredStatement(text), [], asBob);
    expect(await change('update deployments set agent_id = agent_id')).toBe(1);
    await expect(change(`update deployments set created_by = '${ALICE}'`)).rejects.toThrow(
      'row-level security',
    );
    expect(await change('delete from deployments')).toBe(1);
    const left = `select count(*) from deployments.deployments where status = 'enabled' and created_by = '${ALICE}'`;
    expect(await countOn(fixture.url, left)).toBe(1);
    expect(await store.find(ofAlice, { viewer: { userId: ALICE } })).toMatchObject({ deploymentId: ALICES });
  });
});
