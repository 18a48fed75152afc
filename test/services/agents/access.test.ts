import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import { assistantChange, assistantRequest } from './assistants.ts';
import { environmentChange, environmentRequest } from './environments.ts';
import {
  type AgentsSystem,
  administrator,
  agentRequest,
  alice,
  bob,
  change,
  createAgent,
  openAgentsSystem,
} from './system.ts';

const EVERYBODY = { visibility: 'public', managers: [], users: [], groups: [] };
const HOUR_MS = 60 * 60 * 1000;

describe.each(TRANSPORTS)('the peers and callers of the agents service, %s', (transport) => {
  let agents: AgentsSystem;
  let agentId: string;
  let clock: FakeClock;

  beforeAll(async () => {
    clock = createFakeClock();
    agents = await openAgentsSystem(transport, { clock });
    agentId = await createAgent(agents);
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const page = undefined;
  const calls = {
    createAgent: agentRequest(),
    listAgents: { q: '', page },
    getAgent: { agentId: '' },
    updateAgent: change(''),
    deleteAgent: { agentId: '' },
    listAgentVersions: { agentId: '', page },
    getAgentVersion: { agentId: '', version: 1 },
    resolveAgent: { agentId: '' },
    lookUpAgents: { agentIds: [], nameContains: '' },
    listManagedAgents: {},
    getAgentAccess: { agentId: '' },
    setAgentAccess: { agentId: '', access: undefined },
    getLevel: { agentId: '' },
    createAssistant: assistantRequest(),
    listAssistants: { q: '', page },
    getAssistant: { assistantId: '' },
    updateAssistant: assistantChange(''),
    deleteAssistant: { assistantId: '' },
    createEnvironment: environmentRequest(),
    listEnvironments: { q: '', page },
    getEnvironment: { environmentId: '' },
    updateEnvironment: environmentChange(''),
    deleteEnvironment: { environmentId: '' },
    listEnvironmentVersions: { environmentId: '', page },
    resolveEnvironment: { environmentId: '' },
  };
  type Method = keyof typeof calls;
  const METHODS = Object.keys(calls) as Method[];

  function call(method: Method, self: string, options = {}): Promise<unknown> {
    const client = agents.as(self) as Record<Method, (request: object, options: object) => Promise<unknown>>;
    return client[method](calls[method], options);
  }

  const allowed: Record<string, Method[]> = {
    edge: [
      ...([
        'createAgent',
        'listAgents',
        'getAgent',
        'updateAgent',
        'deleteAgent',
        'listAgentVersions',
      ] as const),
      ...([
        'createAssistant',
        'listAssistants',
        'getAssistant',
        'updateAssistant',
        'deleteAssistant',
      ] as const),
      ...(['getAgentAccess', 'setAgentAccess'] as const),
      ...(['createEnvironment', 'listEnvironments', 'getEnvironment', 'updateEnvironment'] as const),
      ...(['deleteEnvironment', 'listEnvironmentVersions'] as const),
    ],
    sessions: ['resolveAgent', 'getAgentVersion', 'getLevel'],
    deployments: ['resolveAgent', 'lookUpAgents', 'getAgent', 'getLevel', 'listManagedAgents'],
    vaults: ['getAgentVersion', 'getEnvironment', 'getLevel'],
    runner: ['getAgentVersion', 'resolveEnvironment'],
    files: ['getAgentVersion', 'getAssistant'],
    auth: [],
    stranger: [],
  };

  it.each(Object.keys(allowed))('allows %s to call only its RPCs', async (peer) => {
    const open: Method[] = [];
    for (const method of METHODS) {
      const code = await call(method, peer, administrator).then(
        () => 'OK',
        (error: { code: string }) => error.code,
      );
      if (code !== 'FORBIDDEN') open.push(method);
    }
    expect(open.toSorted()).toEqual(allowed[peer]?.toSorted());
  });

  const forRunners: Method[] = ['getAgentVersion', 'resolveEnvironment'];

  it.each(METHODS.filter((method) => !forRunners.includes(method)))(
    'refuses %s without a user',
    async (method) => {
      const peer = Object.keys(allowed).find((one) => allowed[one]?.includes(method)) ?? '';
      await expect(call(method, peer)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    },
  );

  it('returns the same error for an agent of another user and for an absent agent', async () => {
    const refusalOf = (work: Promise<unknown>) =>
      work.then(
        (answer) => ({ answer }),
        ({ code, message, details }) => ({ code, message, details }),
      );
    const absent = agentId.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (const send of [
      (id: string) => agents.edge.getAgent({ agentId: id }, bob),
      (id: string) => agents.edge.updateAgent(change(id, { name: 'Mine' }), bob),
      (id: string) => agents.edge.deleteAgent({ agentId: id }, bob),
      (id: string) => agents.edge.listAgentVersions({ agentId: id, page }, bob),
      (id: string) => agents.as('deployments').resolveAgent({ agentId: id }, bob),
      (id: string) => agents.as('deployments').getAgent({ agentId: id }, bob),
      (id: string) => agents.as('runner').getAgentVersion({ agentId: id, version: 1 }, bob),
      (id: string) => agents.edge.getAgentAccess({ agentId: id }, bob),
      (id: string) => agents.edge.setAgentAccess({ agentId: id, access: EVERYBODY }, bob),
      (id: string) => agents.as('sessions').getLevel({ agentId: id }, bob),
    ]) {
      expect(await refusalOf(send(agentId))).toEqual(await refusalOf(send(absent)));
    }
    expect((await agents.edge.listAgents({ q: agentId, page }, bob)).agents).toEqual([]);
  });

  it('cannot update or delete a version in the database', async () => {
    await using database = await openClient();
    await database.query('set role ahs_agents');
    for (const statement of [
      'update agents.agent_versions set model = model',
      'delete from agents.agent_versions',
      'update agents.environment_versions set enabled = enabled',
      'delete from agents.environment_versions',
    ]) {
      await expect(database.query(statement)).rejects.toThrow('permission denied');
    }
  });

  it('expires an idempotency key after a day', async () => {
    const request = agentRequest({ idempotencyKey: 'yesterday' });
    const first = await agents.edge.createAgent(request, alice);
    await using database = await openClient();
    const keyCount = async () => (await database.query('select from agents.idempotency_keys')).rowCount;
    expect(await keyCount()).toBe(1);
    clock.advance(23 * HOUR_MS);
    await until('the key is expired', async () => {
      clock.advance(HOUR_MS);
      return (await keyCount()) === 0;
    });
    const second = await agents.edge.createAgent(request, alice);
    expect(second.replayed).toBe(false);
    expect(second.agent?.agentId).not.toBe(first.agent?.agentId);
  });

  async function openClient() {
    const client = new pg.Client({ connectionString: agents.databaseUrl });
    await client.connect();
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
  }
});
