import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Statement } from '../../../lib/db/database.ts';
import { AGENT_KIND } from '../../../services/agents/domain/agent-kind.ts';
import * as sql from '../../../services/agents/store/agent-statements.ts';
import { createAgentStore } from '../../../services/agents/store/agents.ts';
import {
  ALICE,
  BOB,
  openRowLevelSecurity,
  type RowLevelSecurityFixture,
  undeclaredStatement,
} from '../../support/row-level-security.ts';
import { rowsOn, runOn } from '../../support/sql.ts';

const id = (name: string) => `agt_${name.padStart(26, '0')}`;
const HERS = id('PR1VATE');
const PUBLIC = id('PVB1C');
const LISTED = id('LSTED');
const CREW = id('CREW');
const MANAGED = id('MANAGED');
const NOT_LISTED = id('NTLSTED');
const HIS = id('H1S');

const agent = (agentId: string, owner: string, visibility: string, access: string[] = []) => `
  insert into agents (agent_id, created_by, name, description, metadata, enabled, visibility, version, created_at, updated_at)
    values ('${agentId}', '${owner}', 'an agent', '', '{}', true, '${visibility}', 1, now(), now());
  insert into agent_versions (agent_id, version, model, model_options, system, environment_id, tools, max_steps, bytes,
                              created_by, created_at)
    values ('${agentId}', 1, 'rehearsal/echo', '{}', 'a secret', '', '[]', 10, 0, '${owner}', now());
  ${access.map((entry) => `insert into agent_access (agent_id, role, principal) values ('${agentId}', ${entry});`).join('')}`;

const FILL = `
  set search_path = agents;
  truncate agents, agent_versions, agent_access, idempotency_keys, mcp_servers, mcp_catalogues, mcp_reviews, skills, skill_versions,
    skill_trees_to_delete;
  ${agent(HERS, ALICE, 'private', [`'user', '${BOB}'`, `'manager', 'group:others'`])}
  ${agent(PUBLIC, ALICE, 'public')}
  ${agent(LISTED, ALICE, 'allowlist', [`'user', '${BOB}'`, `'user', '${ALICE}'`])}
  ${agent(CREW, ALICE, 'allowlist', [`'user', 'group:crew'`])}
  ${agent(MANAGED, ALICE, 'private', [`'manager', '${BOB}'`])}
  ${agent(NOT_LISTED, ALICE, 'allowlist', [`'user', 'group:others'`])}
  ${agent(HIS, BOB, 'private')}
  insert into mcp_servers (mcp_server_id, name, url, transport, description, enabled, "authorization", timeout_seconds,
    available_to, trust_annotations, offer_instructions, created_by, created_at, updated_at)
    values ('mcp_1', 'github', 'https://mcp.example.com/', 'streamable_http', '', true, 'none', 60, 'managers', false, false,
      '${ALICE}', now(), now());
  insert into skills (skill_id, name, enabled, newest, created_by, created_at, updated_at)
    values ('skl_1', 'pdf-forms', true, 1, '${ALICE}', now(), now());
  insert into idempotency_keys (caller, key, fingerprint, answer, created_at) values ('${ALICE}', 'k', '', '', now());`;

const SEEN = [PUBLIC, LISTED, CREW, MANAGED, HIS].sort();
/** A viewer who claims to be an administrator passes the access checks of every statement. */
const LIE = [BOB, true, [BOB]];

describe('row-level security of the agents schema', () => {
  let security: RowLevelSecurityFixture;
  const by = { viewer: { userId: BOB, names: ['group:crew'] } };
  beforeAll(async () => {
    security = await openRowLevelSecurity('agents');
  });
  beforeEach(() => runOn(security.url, FILL));
  afterAll(() => security?.[Symbol.asyncDispose]());

  const run = (query: Statement, values: unknown[]) =>
    security.db.rows<{ agentId?: string; agent_id?: string }>(query, values, by);
  const write = (text: string) => security.db.change(undeclaredStatement(text), [], by);

  it('shows a user their own, public and shared agents', async () => {
    const rows = await run(undeclaredStatement('select agent_id from agents order by 1'), []);
    expect(rows.map((row) => row.agent_id)).toEqual(SEEN);
    const versions = undeclaredStatement('select agent_id from agent_versions order by 1');
    expect((await run(versions, [])).map((row) => row.agent_id)).toEqual(SEEN);
    expect(await security.rowsVisibleTo('agents', ALICE)).toHaveLength(6);
    expect(await security.rowsVisibleTo('idempotency_keys', BOB)).toEqual([]);
    for (const row of (await security.rowsVisibleTo('agent_access', BOB)) ?? [])
      expect(row).toMatchObject({ principal: BOB });
  });

  it('shows only public agents without a user', async () => {
    for (const table of ['agent_access', 'idempotency_keys'])
      expect(await security.rowsVisibleWithoutUser(table)).toEqual([]);
    expect(await security.rowsVisibleWithoutUser('agents')).toEqual([
      expect.objectContaining({ visibility: 'public' }),
    ]);
    expect(await security.tablesWithoutPolicies()).toEqual([
      'environment_versions',
      'model_windows',
      'runners',
    ]);
    expect(await security.readableTables()).not.toContain('environment_versions');
  });

  it('limits every statement to visible agents, even for a viewer who claims to be an administrator', async () => {
    const hers = [...LIE, HERS];
    expect(await run(sql.BY_ID, hers)).toEqual([]);
    expect(await run(sql.LEVEL_OF, hers)).toEqual([{ level: null }]);
    expect(await run(sql.START_CONDITIONS, hers)).toEqual([]);
    expect(await run(sql.VERSIONS, [...hers, 100, 10, 1_000_000])).toEqual([]);
    expect(await run(sql.VERSION, [HERS, 1])).toEqual([]);
    expect(await run(sql.NEWEST_VERSION, [HERS])).toEqual([]);
    expect(await run(sql.LOCK, [HERS])).toEqual([]);
    const idsOf = (rows: { agentId?: string }[]) => rows.map(({ agentId }) => agentId).sort();
    const page = [sql.endOf('agt'), '%', '', 50, 1_000_000, sql.startOf('agt'), null, null, null, null];
    expect(idsOf(await run(sql.LIST_ALL, [...LIE, ...page]))).toEqual(SEEN);
    expect(idsOf(await run(sql.LIST, [ALICE, false, [ALICE], ...page]))).not.toContain(HERS);
    expect(idsOf(await run(sql.NAMES_BY_ID, [...LIE, [HERS, HIS]]))).toEqual([HIS]);
    expect(idsOf(await run(sql.MANAGED_IDS, [...LIE, sql.startOf('agt'), sql.endOf('agt')]))).toEqual(SEEN);
  });

  it('allows changes of managed agents only', async () => {
    expect(await write('update agents set enabled = false')).toBe(2);
    const disabled = await rowsOn<{ id: string }>(
      security.url,
      'select agent_id as id from agents.agents where not enabled',
    );
    expect(disabled.map((row) => row.id).sort()).toEqual([HIS, MANAGED].sort());
    expect(await security.db.change(sql.DELETE, [HERS, new Date(), false], by)).toBe(0);
    const version = (agentId: string) =>
      write(`insert into agent_versions (agent_id, version, model, model_options, system, environment_id, tools, max_steps,
        bytes, created_by, created_at) values ('${agentId}', 2, '', '{}', '', '', '[]', 1, 0, '${BOB}', now())`);
    expect(await version(MANAGED)).toBe(1);
    await expect(version(PUBLIC)).rejects.toThrow('row-level security');
    await expect(version(HERS)).rejects.toThrow('row-level security');
    await expect(write(agent(id('NEW'), ALICE, 'public').split(';')[0] ?? '')).rejects.toThrow(
      'row-level security',
    );
  });

  it('refuses changes of access lists and environments on behalf of a user', async () => {
    for (const text of [
      `insert into agent_access (agent_id, role, principal) values ('${HERS}', 'manager', '${BOB}')`,
      'delete from agent_access',
      'delete from agents',
      'update environments set enabled = false',
      'update mcp_servers set enabled = false',
      'select url from mcp_servers',
      'select body from mcp_catalogues',
      'select rules from mcp_reviews',
      'select name from skills',
      'select files from skill_versions',
      'select skill_id from skill_trees_to_delete',
      'delete from skills',
    ])
      await expect(write(text)).rejects.toThrow('permission denied');
    for (const table of ['environments', 'mcp_servers', 'skills'])
      await expect(write(`update ${table} set updated_at = now()`)).rejects.toThrow('row-level security');
  });

  it('returns the same agents as the store for a real viewer', async () => {
    const store = createAgentStore(security.db, AGENT_KIND, { mcpMaxTools: 256 });
    const bob = { userId: BOB, groups: ['crew'], isAdministrator: false };
    const root = { userId: 'usr_root', groups: [], isAdministrator: true };
    const page = { limit: 50, cursor: '' };
    const anyRevision = () => {};
    const listed = await store.list(bob, { q: '', metadata: [] }, page);
    expect(listed.items.map(({ agentId }) => agentId).sort()).toEqual(SEEN);
    expect((await store.list(root, { q: '', metadata: [] }, page)).items).toHaveLength(7);
    await expect(store.delete(bob, PUBLIC, anyRevision, new Date())).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    await expect(store.delete(bob, HERS, anyRevision, new Date())).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
    await store.delete(bob, MANAGED, anyRevision, new Date());
    expect(await store.agent(root, MANAGED)).toBeUndefined();
  });
});
