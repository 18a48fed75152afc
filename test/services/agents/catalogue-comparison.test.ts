import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { CreateMcpServerRequest } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { ProbeRequest, ProbeResponse } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { createFakeClock } from '../../support/clock.ts';
import { runOn } from '../../support/sql.ts';
import { advanceUntil, until } from '../../support/wait.ts';
import { catalogueOf, reviewedServer } from './mcp-servers.ts';
import { type AgentsSystem, administrator, createAgent, openAgentsSystem } from './system.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const REACHED: ProbeResponse = {
  ...{ reachable: true, latencyMs: 7, protocolVersion: '2026-07-28', serverJson: '{}' },
  ...{ catalogueJson: '', promptsJson: '[]', resourceCount: 0, authorization: undefined, problem: undefined },
};

describe('hourly comparison of catalogues', () => {
  const clock = createFakeClock();
  let replicas: [AgentsSystem, AgentsSystem];
  const stack = new AsyncDisposableStack();
  const probes: ProbeRequest[] = [];
  let answer: (request: ProbeRequest) => Promise<ProbeResponse>;
  const serve = (tools: Record<string, string>) => async () => ({
    ...REACHED,
    catalogueJson: catalogueOf(tools).json,
  });

  beforeAll(async () => {
    const probe = async (request: ProbeRequest) => {
      probes.push(request);
      return answer(request);
    };
    const first = stack.use(await openAgentsSystem('in process', { clock, probe }));
    const { databaseUrl } = first;
    replicas = [first, stack.use(await openAgentsSystem('in process', { clock, probe, databaseUrl }))];
  });
  afterAll(() => stack.disposeAsync());
  beforeEach(async () => {
    // Servers of earlier tests are not compared again.
    await runOn(replicas[0].databaseUrl, 'update agents.mcp_servers set deleted_at = now()');
    probes.length = 0;
    for (const { auditLog } of replicas) auditLog.takeActs();
  });

  /** Creates a reviewed server that an agent has. */
  async function assignedServer(overrides: Partial<CreateMcpServerRequest> = {}): Promise<string> {
    const [system] = replicas;
    const { mcpServerId } = await reviewedServer(system, { find: 'Finds.' }, overrides);
    const agentId = await createAgent(system, {}, administrator);
    await system.edge.putExtensions(
      { agentId, mcpServerIds: [mcpServerId], ifRevisions: undefined },
      administrator,
    );
    for (const { auditLog } of replicas) auditLog.takeActs();
    return mcpServerId;
  }

  const stateOf = async (mcpServerId: string) =>
    (await replicas[0].edge.getMcpServer({ mcpServerId }, administrator)).mcpServer?.catalogue?.state;
  const probesOf = (mcpServerId: string) => probes.filter((probe) => probe.mcpServerId === mcpServerId);
  const acts = () => replicas.flatMap(({ auditLog }) => auditLog.takeActs());
  /** Advances the clock until a server was probed `count` times. */
  const passUntil = (mcpServerId: string, count: number, stepMs = MINUTE) =>
    advanceUntil(
      'the server is probed',
      () => clock.advance(stepMs),
      () => probesOf(mcpServerId).length >= count,
    );

  it('probes a server once an hour in one of two replicas', async () => {
    answer = serve({ find: 'Finds.' });
    const mcpServerId = await assignedServer();
    await passUntil(mcpServerId, 1);
    const start = clock.now().getTime();
    await advanceUntil(
      'more than an hour has passed',
      () => clock.advance(MINUTE),
      () => clock.now().getTime() >= start + HOUR + 5 * MINUTE,
    );
    await passUntil(mcpServerId, 2);
    expect(probesOf(mcpServerId)).toHaveLength(2);
    expect(probesOf(mcpServerId)[0]).toMatchObject({
      credentialId: '',
      anyShared: false,
      timeoutSeconds: 20,
    });
    expect(await stateOf(mcpServerId)).toBe('current');
    expect(acts()).toEqual([]);
  });

  it('audits a difference to the review and shows the server as changed', async () => {
    answer = serve({ find: 'Finds more.' });
    const mcpServerId = await assignedServer();
    await passUntil(mcpServerId, 1);
    await until('the difference is stored', async () => (await stateOf(mcpServerId)) === 'changed');
    expect(acts()).toEqual([`undefined mcp-server.drift ${mcpServerId}`]);
    await passUntil(mcpServerId, 2, 10 * MINUTE);
    expect(acts()).toEqual([]);
  });

  it('probes no server that is disabled, unused or needs the credential of a user', async () => {
    answer = serve({ find: 'Finds.' });
    const { mcpServerId: unused } = await reviewedServer(replicas[0], { find: 'Finds.' });
    const disabled = await assignedServer({ enabled: false });
    const personal = await assignedServer();
    await runOn(
      replicas[0].databaseUrl,
      `update agents.mcp_servers set "authorization" = 'personal' where mcp_server_id = '${personal}'`,
    );
    await passUntil(await assignedServer(), 1);
    for (const mcpServerId of [unused, disabled, personal]) expect(probesOf(mcpServerId)).toEqual([]);
  });

  it('uses a shared credential, audits that, and keeps the state when there is none', async () => {
    answer = async () => {
      throw refuse('CREDENTIAL_NOT_FOUND', 'Unknown credential.');
    };
    const mcpServerId = await assignedServer({ authorization: 'shared' });
    await passUntil(mcpServerId, 1);
    expect(probesOf(mcpServerId)[0]).toMatchObject({ credentialId: '', anyShared: true });
    expect(acts()).toEqual([`undefined mcp-server.probe ${mcpServerId}`]);
    expect(await stateOf(mcpServerId)).toBe('current');
  });

  it('sends no credential that cannot be audited', async () => {
    answer = serve({ find: 'Finds.' });
    const mcpServerId = await assignedServer({ authorization: 'shared' });
    for (const { auditLog } of replicas) auditLog.failsToRecord = true;
    const end = clock.now().getTime() + 4 * MINUTE;
    await advanceUntil(
      'some minutes have passed',
      () => clock.advance(MINUTE),
      () => clock.now().getTime() >= end,
    );
    expect(probesOf(mcpServerId)).toEqual([]);
    for (const { auditLog } of replicas) auditLog.failsToRecord = false;
    await passUntil(mcpServerId, 1);
  });

  it('shows an unreachable server, and repeats a comparison that failed within minutes', async () => {
    const problem = { code: 'timed_out', message: 'The server did not answer.' };
    answer = async () => ({ ...REACHED, reachable: false, problem });
    const unreachable = await assignedServer();
    await passUntil(unreachable, 1);
    await until('the state is shown', async () => (await stateOf(unreachable)) === 'unreachable');
    answer = async () => {
      throw refuse('DEPENDENCY_UNAVAILABLE', 'The vaults service is down.');
    };
    const mcpServerId = await assignedServer();
    await passUntil(mcpServerId, 1);
    const failedAt = clock.now().getTime();
    answer = serve({ find: 'Finds.' });
    await passUntil(mcpServerId, 2);
    expect(clock.now().getTime() - failedAt).toBeLessThan(HOUR / 2);
    expect(await stateOf(mcpServerId)).toBe('current');
  });
});
