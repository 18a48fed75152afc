import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDeploymentStore } from '../../../services/deployments/store/deployments.ts';
import { createRefusalStore } from '../../../services/deployments/store/refusals.ts';
import { countOn, runOn } from '../../support/sql.ts';
import { ALICE, BOB, foreign, openWall, type Wall } from '../../support/wall.ts';

const HERS = 'dep_0000000000000000000000000A';
const HIS = 'dep_0000000000000000000000000B';
const AGENT = 'agt_00000000000000000000000001';

const rowsOf = (deploymentId: string, owner: string) => `
  insert into deployments (deployment_id, created_by, agent_id, type, status, sealed_secret, created_at, updated_at)
    values ('${deploymentId}', '${owner}', '${AGENT}', 'webhook', 'enabled', 'sealed', now(), now());
  insert into refusals (deployment_id, invocation_id, slot, reason, count, body_bytes, source_address, created_at)
    values ('${deploymentId}', 'inv_1', 'inv_1', 'disabled', 1, 0, '', now());
  insert into idempotency_keys (caller, key, fingerprint, answer, created_at) values ('${owner}', 'k', '', '', now());`;

describe('deployments without their first wall', () => {
  let wall: Wall;
  beforeAll(async () => {
    wall = await openWall('deployments');
    await runOn(wall.url, `set search_path = deployments; ${rowsOf(HERS, ALICE)} ${rowsOf(HIS, BOB)}`);
  });
  afterAll(() => wall?.[Symbol.asyncDispose]());

  it('guard all tables', async () => {
    expect(await wall.unguarded()).toEqual([]);
  });

  it('show everybody their own, and nothing to nobody', async () => {
    const owned = { created_by: BOB };
    expect(await wall.everythingIn('deployments', BOB)).toEqual([expect.objectContaining(owned)]);
    const refused = { deployment_id: HIS };
    expect(await wall.everythingIn('refusals', BOB)).toEqual([expect.objectContaining(refused)]);
    const answered = { caller: BOB };
    expect(await wall.everythingIn('idempotency_keys', BOB)).toEqual([expect.objectContaining(answered)]);
    for (const table of ['deployments', 'refusals', 'idempotency_keys'])
      expect(await wall.nothingIn(table)).toEqual([]);
  });

  it('read and change nothing of what is hers for him, though they are asked to', async () => {
    const store = createDeploymentStore(wall.db);
    const refusals = createRefusalStore(wall.db);
    const by = { viewer: { userId: BOB } };
    const hers = { agentId: '', deploymentId: HERS };
    const filter = { caller: BOB, reach: 'all' as const, agentId: '', type: '', status: '', q: '' };
    expect(await store.find(hers, by)).toBeUndefined();
    const { rows } = await store.list({ filter, namedAgents: [], limit: 10, cursor: '' }, by);
    expect(rows.map(({ createdBy }) => createdBy)).toEqual([BOB]);
    const page = { caller: BOB, deploymentId: HERS, limit: 10, cursor: '' };
    expect((await refusals.invocations(page, async () => [], by)).rows).toEqual([]);
    expect(await store.setStatus(hers, 'disabled', new Date(), by)).toBeUndefined();
    expect(await store.remove(hers, by)).toBe(false);
    const change = (text: string) => wall.db.change(foreign(text), [], by);
    expect(await change('update deployments set agent_id = agent_id')).toBe(1);
    await expect(change(`update deployments set created_by = '${ALICE}'`)).rejects.toThrow(
      'row-level security',
    );
    expect(await change('delete from deployments')).toBe(1);
    const left = `select count(*) from deployments.deployments where status = 'enabled' and created_by = '${ALICE}'`;
    expect(await countOn(wall.url, left)).toBe(1);
    expect(await store.find(hers, { viewer: { userId: ALICE } })).toMatchObject({ deploymentId: HERS });
  });
});
