import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { ProbeResponse } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { ABSENT_SERVER, catalogueOf, createServer, reviewedServer } from './mcp-servers.ts';
import { type AgentsSystem, administrator, alice, openAgentsSystem } from './system.ts';

const REACHED: ProbeResponse = {
  reachable: true,
  latencyMs: 7,
  protocolVersion: '2026-07-28',
  serverJson: '{"name":"test"}',
  catalogueJson: catalogueOf({ find: 'Finds.' }).json,
  promptsJson: '[{"name":"greet"}]',
  resourceCount: 3,
  authorization: undefined,
  problem: undefined,
};

describe.each(TRANSPORTS)('ProbeMcpServer, %s', (transport) => {
  let agents: AgentsSystem;
  let probe: () => Promise<ProbeResponse> = async () => REACHED;
  beforeAll(async () => {
    agents = await openAgentsSystem(transport, { probe: () => probe() });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const run = (mcpServerId: string, credentialId = '') =>
    agents.edge.probeMcpServer({ mcpServerId, credentialId }, administrator);
  const stateOf = async (mcpServerId: string) =>
    (await agents.edge.getMcpServer({ mcpServerId }, administrator)).mcpServer?.catalogue?.state;
  const failWith = (code: string) => async () => ({
    ...REACHED,
    ...{ reachable: false, catalogueJson: '', problem: { code, message: 'It failed.' } },
  });

  it('returns and stores the catalogue with warnings and the difference to the reviewed one', async () => {
    probe = async () => ({ ...REACHED, catalogueJson: catalogueOf({ find: 'Finds.\u200b', more: '' }).json });
    const { mcpServerId } = await reviewedServer(agents, { find: 'Finds.', gone: '' });
    agents.auditLog.takeActs();
    expect(await run(mcpServerId)).toMatchObject({
      ...{ reachable: true, latencyMs: 7, promptsJson: '[{"name":"greet"}]', resourceCount: 3 },
      warnings: [{ tool: 'find', kind: 'invisible_characters', pointer: '/description' }],
      diff: { added: ['more'], removed: ['gone'], changed: [{ name: 'find', members: ['description'] }] },
    });
    expect(agents.auditLog.takeActs()).toEqual(
      ['probe', 'drift'].map((act) => `${administrator.caller.userId} mcp-server.${act} ${mcpServerId}`),
    );
    expect(await stateOf(mcpServerId)).toBe('changed');
  });

  it('keeps the problem until a probe succeeds', async () => {
    const { mcpServerId } = await createServer(agents);
    probe = failWith('timed_out');
    expect(await run(mcpServerId)).toMatchObject({ reachable: false, problem: { code: 'timed_out' } });
    expect(await stateOf(mcpServerId)).toBe('unreachable');
    probe = failWith('unauthorized');
    await run(mcpServerId);
    expect(await stateOf(mcpServerId)).toBe('unauthorized');
    probe = async () => REACHED;
    await run(mcpServerId);
    expect(await stateOf(mcpServerId)).toBe('unreviewed');
  });

  it('refuses users, unknown servers and credentials, and a probe that cannot be recorded', async () => {
    const { mcpServerId } = await createServer(agents);
    const request = { mcpServerId, credentialId: '' };
    await expect(agents.edge.probeMcpServer(request, alice)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(run(ABSENT_SERVER)).rejects.toMatchObject({ code: 'MCP_SERVER_NOT_FOUND' });
    probe = async () => {
      throw refuse('CREDENTIAL_NOT_FOUND', 'Unknown credential.');
    };
    const credentialId = `crd_${'0'.repeat(26)}`;
    for (const id of [credentialId, 'crd_1', 'x'.repeat(100_000)])
      await expect(run(mcpServerId, id)).rejects.toMatchObject({ code: 'CREDENTIAL_NOT_FOUND' });
    agents.auditLog.failsToRecord = true;
    await expect(run(mcpServerId)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    agents.auditLog.failsToRecord = false;
  });
});
