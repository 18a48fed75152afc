import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Statement } from '../../../lib/db/database.ts';
import { AGENT } from '../../../services/agents/domain/kind.ts';
import * as sql from '../../../services/agents/store/statements.ts';
import { createAgentStore } from '../../../services/agents/store.ts';
import { rowsOn, runOn } from '../../support/sql.ts';
import { ALICE, BOB, foreign, openWall, type Wall } from '../../support/wall.ts';

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
  truncate agents, agent_versions, agent_access, idempotency_keys;
  ${agent(HERS, ALICE, 'private', [`'user', '${BOB}'`, `'manager', 'group:others'`])}
  ${agent(PUBLIC, ALICE, 'public')}
  ${agent(LISTED, ALICE, 'allowlist', [`'user', '${BOB}'`, `'user', '${ALICE}'`])}
  ${agent(CREW, ALICE, 'allowlist', [`'user', 'group:crew'`])}
  ${agent(MANAGED, ALICE, 'private', [`'manager', '${BOB}'`])}
  ${agent(NOT_LISTED, ALICE, 'allowlist', [`'user', 'group:others'`])}
  ${agent(HIS, BOB, 'private')}
  insert into idempotency_keys (caller, key, fingerprint, answer, created_at) values ('${ALICE}', 'k', '', '', now());`;

const SEEN = [PUBLIC, LISTED, CREW, MANAGED, HIS].sort();
/** Whoever says so in every statement passes the first wall. */
const LIE = [BOB, true, [BOB]];

describe('agents without their first wall', () => {
  let wall: Wall;
  const by = { viewer: { userId: BOB, names: ['group:crew'] } };
  beforeAll(async () => {
    wall = await openWall('agents');
  });
  beforeEach(() => runOn(wall.url, FILL));
  afterAll(() => wall?.[Symbol.asyncDispose]());

  const run = (query: Statement, values: unknown[]) =>
    wall.db.rows<{ agentId?: string; agent_id?: string }>(query, values, by);
  const write = (text: string) => wall.db.change(foreign(text), [], by);

  it('show what is somebody’s, public, or shared with them or a group of theirs', async () => {
    const rows = await run(foreign('select agent_id from agents order by 1'), []);
    expect(rows.map((row) => row.agent_id)).toEqual(SEEN);
    const versions = foreign('select agent_id from agent_versions order by 1');
    expect((await run(versions, [])).map((row) => row.agent_id)).toEqual(SEEN);
    expect(await wall.everythingIn('agents', ALICE)).toHaveLength(6);
    expect(await wall.everythingIn('idempotency_keys', BOB)).toEqual([]);
    for (const row of (await wall.everythingIn('agent_access', BOB)) ?? [])
      expect(row).toMatchObject({ principal: BOB });
  });

  it('show nothing but what is everybody’s to nobody', async () => {
    for (const table of ['agent_access', 'idempotency_keys']) expect(await wall.nothingIn(table)).toEqual([]);
    expect(await wall.nothingIn('agents')).toEqual([expect.objectContaining({ visibility: 'public' })]);
    expect(await wall.unguarded()).toEqual(['environment_versions']);
    expect(await wall.open()).not.toContain('environment_versions');
  });

  it('answer each statement with what he may see, though it is told that he may see everything', async () => {
    const hers = [...LIE, HERS];
    expect(await run(sql.BY_ID, hers)).toEqual([]);
    expect(await run(sql.LEVEL_OF, hers)).toEqual([]);
    expect(await run(sql.STANDING, hers)).toEqual([]);
    expect(await run(sql.VERSIONS, [...hers, 100, 10, 1_000_000])).toEqual([]);
    expect(await run(sql.VERSION, [HERS, 1])).toEqual([]);
    expect(await run(sql.RUNTIME, [HERS])).toEqual([]);
    expect(await run(sql.LOCK, [HERS])).toEqual([]);
    const idsOf = (rows: { agentId?: string }[]) => rows.map(({ agentId }) => agentId).sort();
    const page = [sql.endOf('agt'), '%', '', 50, 1_000_000, sql.startOf('agt')];
    expect(idsOf(await run(sql.LIST_ALL, [...LIE, ...page]))).toEqual(SEEN);
    expect(idsOf(await run(sql.LIST, [ALICE, false, [ALICE], ...page]))).not.toContain(HERS);
    expect(idsOf(await run(sql.NAMES_BY_ID, [...LIE, [HERS, HIS]]))).toEqual([HIS]);
    expect(idsOf(await run(sql.MANAGED_IDS, [...LIE, sql.startOf('agt'), sql.endOf('agt')]))).toEqual(SEEN);
  });

  it('change what he manages and nothing else', async () => {
    expect(await write('update agents set enabled = false')).toBe(2);
    const disabled = await rowsOn<{ id: string }>(
      wall.url,
      'select agent_id as id from agents.agents where not enabled',
    );
    expect(disabled.map((row) => row.id).sort()).toEqual([HIS, MANAGED].sort());
    expect(await wall.db.change(sql.DELETE, [HERS, new Date(), false], by)).toBe(0);
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

  it('neither share nor remove anything, nor change what everybody uses', async () => {
    for (const text of [
      `insert into agent_access (agent_id, role, principal) values ('${HERS}', 'manager', '${BOB}')`,
      'delete from agent_access',
      'delete from agents',
      'update environments set enabled = false',
    ])
      await expect(write(text)).rejects.toThrow('permission denied');
    await expect(write('update environments set updated_at = now()')).rejects.toThrow('row-level security');
  });

  it('are as the store has them for those who pass the first wall as well', async () => {
    const store = createAgentStore(wall.db, AGENT);
    const bob = { userId: BOB, groups: ['crew'], isAdministrator: false };
    const root = { userId: 'usr_root', groups: [], isAdministrator: true };
    const page = { limit: 50, cursor: '' };
    const listed = await store.list(bob, '', page);
    expect(listed.items.map(({ agentId }) => agentId).sort()).toEqual(SEEN);
    expect((await store.list(root, '', page)).items).toHaveLength(7);
    await expect(store.delete(bob, PUBLIC, new Date())).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(store.delete(bob, HERS, new Date())).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    await store.delete(bob, MANAGED, new Date());
    expect(await store.agent(root, MANAGED)).toBeUndefined();
  });
});
