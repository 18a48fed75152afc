import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AssignmentTarget } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn, openConnection, runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { AGENT, ASSISTANT, OTHER_AGENT, UNKNOWN_AGENT } from './fake-targets.ts';
import {
  administrator,
  member,
  openVaultsSystem,
  refusalOf,
  UNKNOWN_VAULT,
  type VaultsSystem,
} from './system.ts';

const agent = (value: string): AssignmentTarget => ({ of: { $case: 'agentId', value } });
const assistant = (value: string): AssignmentTarget => ({ of: { $case: 'assistantId', value } });

describe.each(TRANSPORTS)('vaults of agents and assistants, %s', (transport) => {
  let system: VaultsSystem;
  beforeAll(async () => {
    system = await openVaultsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const put = (target: AssignmentTarget, vaultIds: string[], revisions?: number[]) =>
    system.edge.putAssignments({ target, vaultIds, ifRevisions: revisions && { revisions } }, administrator);
  const get = (target: AssignmentTarget, by: object = administrator) =>
    system.edge.getAssignments({ target }, by);
  const remove = (vaultId: string) =>
    system.edge.deleteVault({ vaultId, ifRevisions: undefined }, administrator);
  const newVaultId = async () => (await system.createVault()).vaultId;

  it('keeps the vaults of a target in order, and counts each replacement', async () => {
    const [one, two] = [await system.createVault(), await system.createVault({ enabled: false })];
    expect(await get(assistant(ASSISTANT))).toEqual({ vaults: [], revision: 0 });
    const order = [two.vaultId, one.vaultId];
    const first = await put(assistant(ASSISTANT), order);
    expect(first.vaults).toEqual([
      { vaultId: two.vaultId, name: two.name, enabled: false },
      { vaultId: one.vaultId, name: one.name, enabled: true },
    ]);
    expect(first.revision).toBe(1);
    expect(await get(assistant(ASSISTANT))).toEqual(first);
    expect(await put(assistant(ASSISTANT), order)).toEqual(first);
    const second = await put(assistant(ASSISTANT), order.toReversed());
    expect(second.revision).toBe(2);
    expect(second.vaults.map(({ vaultId }) => vaultId)).toEqual(order.toReversed());
    const { vault } = await system.edge.getVault({ vaultId: one.vaultId }, administrator);
    expect(vault?.assignmentCount).toBe(1);
    expect(await put(assistant(ASSISTANT), [])).toEqual({ vaults: [], revision: 3 });
  });

  it('refuses a replacement at an unexpected revision', async () => {
    const { revision } = await put(agent(AGENT), [await newVaultId()]);
    expect(await refusalOf(put(agent(AGENT), [], [revision + 1]))).toBe('VERSION_CONFLICT');
    expect(await refusalOf(put(agent(AGENT), [], [revision]))).toBe('OK');
  });

  it('refuses unknown, repeated, personal and too many vaults', async () => {
    const vaultId = await newVaultId();
    expect(await refusalOf(put(agent(AGENT), [vaultId, UNKNOWN_VAULT]))).toBe('VAULT_NOT_FOUND');
    expect(await refusalOf(put(agent(AGENT), ['vlt_1']))).toBe('VAULT_NOT_FOUND');
    expect(await refusalOf(put(agent(AGENT), [vaultId, vaultId]))).toBe('INVALID_REQUEST /vault_ids/1');
    expect(
      await refusalOf(
        put(
          agent(AGENT),
          Array.from({ length: 21 }, () => vaultId),
        ),
      ),
    ).toBe('INVALID_REQUEST /vault_ids');
    const personal = await newVaultId();
    await runOn(
      system.databaseUrl,
      `update vaults.vaults set kind = 'personal', owner_id = vault_id where vault_id = '${personal}'`,
    );
    expect(await refusalOf(put(agent(AGENT), [vaultId, personal]))).toBe('INVALID_REQUEST /vault_ids/1');
  });

  it('refuses a vault with a variable that the environment of the target sets', async () => {
    const vaultId = await newVaultId();
    const inject = { headers: ['authorization'], basic: true, query: [] };
    const members = { name: 'GITHUB_TOKEN', inject, methods: [], pathPrefixes: [], placeholderPrefix: '' };
    await system.createCredential(
      {
        vaultId,
        type: 'environment_variable',
        host: undefined,
        allowedHosts: ['api.github.com'],
        public: { of: { $case: 'environmentVariable', value: members } },
      },
      { value: 'ghp_1' },
    );
    system.targets.variables.set(OTHER_AGENT, ['GITHUB_TOKEN']);
    expect(await refusalOf(put(agent(OTHER_AGENT), [vaultId]))).toBe('INVALID_REQUEST /vault_ids/0');
    system.targets.variables.set(OTHER_AGENT, ['github_token']);
    expect(await refusalOf(put(agent(OTHER_AGENT), [vaultId]))).toBe('OK');
  });

  it('refuses unknown targets and ids of the other kind', async () => {
    const vaultIds = [await newVaultId()];
    for (const target of [agent(UNKNOWN_AGENT), agent('agt_1'), agent(ASSISTANT)]) {
      expect(await refusalOf(put(target, vaultIds))).toBe('AGENT_NOT_FOUND');
      expect(await refusalOf(get(target))).toBe('AGENT_NOT_FOUND');
    }
    expect(await refusalOf(get(assistant(AGENT)))).toBe('ASSISTANT_NOT_FOUND');
  });

  it('can be read by managers and changed by administrators only', async () => {
    const { userId } = member.caller;
    expect(await refusalOf(get(agent(AGENT), member))).toBe('AGENT_NOT_FOUND');
    system.targets.levels.set(`${userId} ${AGENT}`, 'use');
    expect(await refusalOf(get(agent(AGENT), member))).toBe('FORBIDDEN');
    system.targets.levels.set(`${userId} ${AGENT}`, 'manage');
    expect(await refusalOf(get(agent(AGENT), member))).toBe('OK');
    const change = { target: agent(AGENT), vaultIds: [], ifRevisions: undefined };
    expect(await refusalOf(system.edge.putAssignments(change, member))).toBe('FORBIDDEN');
  });

  it('refuses to delete an assigned vault', async () => {
    const vaultId = await newVaultId();
    await put(agent(AGENT), [vaultId]);
    expect(await refusalOf(remove(vaultId))).toBe('RESOURCE_IN_USE');
    await put(agent(AGENT), []);
    expect(await refusalOf(remove(vaultId))).toBe('OK');
  });

  it('decides between a deletion and a concurrent assignment: exactly one of them succeeds', async () => {
    for (let round = 0; round < 10; round++) {
      const vaultId = await newVaultId();
      const results = await Promise.all([
        refusalOf(remove(vaultId)),
        refusalOf(put(agent(AGENT), [vaultId])),
      ]);
      expect([
        ['OK', 'VAULT_NOT_FOUND'],
        ['RESOURCE_IN_USE', 'OK'],
      ]).toContainEqual(results);
      await put(agent(AGENT), []);
    }
  });

  it('lets a deletion wait for an assignment that is not committed yet, and then refuses it', async () => {
    const vaultId = await newVaultId();
    await using connection = await openConnection(system.databaseUrl);
    await connection.query('begin');
    await connection.query(
      `insert into vaults.assignment_lists values ('agent', 'agt_waiting_${transport}', 1)`,
    );
    await connection.query(
      `insert into vaults.assignments values ('agent', 'agt_waiting_${transport}', 1, '${vaultId}')`,
    );
    const deletion = refusalOf(remove(vaultId));
    await until('the deletion waits', async () => {
      const waiting = `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%from vaults where%for update%'`;
      return (await countOn(system.databaseUrl, waiting)) > 0;
    });
    await connection.query('commit');
    expect(await deletion).toBe('RESOURCE_IN_USE');
  });

  it('ends with its target, also against a later assignment, and releases its vaults', async () => {
    const vaultId = await newVaultId();
    await put(agent(OTHER_AGENT), [vaultId]);
    const agents = system.connection.as('agents');
    await agents.deleteAssignments({ target: agent(OTHER_AGENT) });
    await agents.deleteAssignments({ target: agent(OTHER_AGENT) });
    expect(await refusalOf(put(agent(OTHER_AGENT), [vaultId]))).toBe('AGENT_NOT_FOUND');
    expect(await refusalOf(remove(vaultId))).toBe('OK');
  });

  it('records a replacement before it is made', async () => {
    const vaultId = await newVaultId();
    system.auditLog.takeActs();
    await put(agent(AGENT), [vaultId]);
    expect(system.auditLog.takeActs()).toEqual([`${administrator.caller.userId} vault.assign ${AGENT}`]);
    system.auditLog.failsToRecord = true;
    const refused = await refusalOf(put(agent(AGENT), []));
    system.auditLog.failsToRecord = false;
    expect(refused).toBe('DEPENDENCY_UNAVAILABLE');
    expect((await get(agent(AGENT))).vaults).toHaveLength(1);
  });
});
