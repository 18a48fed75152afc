import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { TRANSPORTS } from '../../support/context.ts';
import {
  ABSENT_ENVIRONMENT,
  createdEnvironment,
  DEFAULT,
  environmentChange,
  environmentRequest,
  SPEC,
} from './environments.ts';
import {
  type AgentsSystem,
  administrator,
  alice,
  bob,
  change,
  createAgent,
  openAgentsSystem,
  RUNTIME,
} from './system.ts';

describe.each(TRANSPORTS)('environments, %s', (transport) => {
  const calls: string[] = [];
  let agents: AgentsSystem;

  beforeAll(async () => {
    const bus = createLocalBus();
    bus.subscribe('environments.changed', (environmentId) => calls.push(environmentId));
    const awaitPropagation = async () => void calls.push('propagated');
    agents = await openAgentsSystem(transport, { bus: { ...bus, awaitPropagation } });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const notFound = { code: 'ENVIRONMENT_NOT_FOUND' };
  const firstPage = { limit: 100, cursor: '' };
  const read = async (environmentId: string) =>
    (await agents.edge.getEnvironment({ environmentId }, administrator)).environment!;
  const update = async (environmentId: string, members: object) =>
    (await agents.edge.updateEnvironment(environmentChange(environmentId, members), administrator))
      .environment!;
  const remove = (environmentId: string) => agents.edge.deleteEnvironment({ environmentId }, administrator);
  const resolve = (environmentId: string) => agents.as('runner').resolveEnvironment({ environmentId });

  it('records changes in the audit log first, and fails without a change when the log is unavailable', async () => {
    const { auditLog } = agents;
    auditLog.takeActs();
    const { environmentId } = await createdEnvironment(agents);
    await update(environmentId, { enabled: false });
    auditLog.failsToRecord = true;
    const closed = { code: 'DEPENDENCY_UNAVAILABLE' };
    await expect(createdEnvironment(agents)).rejects.toMatchObject(closed);
    await expect(update(environmentId, { enabled: true })).rejects.toMatchObject(closed);
    await expect(remove(environmentId)).rejects.toMatchObject(closed);
    auditLog.failsToRecord = false;
    expect(await read(environmentId)).toMatchObject({ enabled: false, version: 2 });
    await remove(environmentId);
    expect(auditLog.takeActs()).toEqual(
      ['create', 'update', 'delete'].map(
        (act) => `${administrator.caller.userId} environment.${act} ${environmentId}`,
      ),
    );
  });

  describe('the default environment', () => {
    it('exists from the start and is used by agents that name none', async () => {
      const environment = await read(DEFAULT);
      expect(environment).toEqual({
        environmentId: DEFAULT,
        name: 'default',
        spec: {
          sandbox: { provider: 'auto', image: '', commandTimeoutSeconds: 120 },
          network: { mode: 'none', allowedHosts: [] },
          tenancy: 'session',
          idle: { timeoutSeconds: 900, action: 'suspend' },
          variables: {},
        },
        enabled: true,
        version: 1,
        isDefault: true,
        createdBy: '',
        createdAt: expect.any(Date),
        updatedAt: environment.createdAt,
      });
      expect(await resolve('')).toEqual({ environment });
    });

    it('cannot be deleted', async () => {
      await expect(remove(DEFAULT)).rejects.toMatchObject({ code: 'RESOURCE_IN_USE' });
      expect(await read(DEFAULT)).toMatchObject({ name: 'default' });
    });

    it('is created once when several replicas start', async () => {
      const { databaseUrl } = agents;
      const others = await Promise.all(
        Array.from({ length: 3 }, () => openAgentsSystem(transport, { databaseUrl })),
      );
      await using stack = new AsyncDisposableStack();
      for (const other of others) stack.use(other);
      for (const { edge } of others) {
        const { environments } = await edge.listEnvironments(
          { q: 'default', page: firstPage },
          administrator,
        );
        expect(environments.map(({ environmentId }) => environmentId)).toEqual([DEFAULT]);
      }
    });
  });

  it('returns an environment as GetEnvironment then returns it', async () => {
    const request = environmentRequest({ enabled: false });
    const { environment, replayed } = await agents.edge.createEnvironment(request, administrator);
    expect(replayed).toBe(false);
    expect(environment).toEqual({
      environmentId: expect.stringMatching(/^env_[0-9A-HJKMNP-TV-Z]{26}$/),
      name: request.name,
      spec: SPEC,
      enabled: false,
      version: 1,
      isDefault: false,
      createdBy: administrator.caller.userId,
      createdAt: expect.any(Date),
      updatedAt: environment?.createdAt,
    });
    expect(await read(environment!.environmentId)).toEqual(environment);
  });

  it('replays a creation with the same idempotency key and refuses other content', async () => {
    const request = environmentRequest({ idempotencyKey: `once-${transport}` });
    const { environment } = await agents.edge.createEnvironment(request, administrator);
    await update(environment!.environmentId, { enabled: false });
    expect(await agents.edge.createEnvironment(request, administrator)).toEqual({
      environment,
      replayed: true,
    });
    const other = agents.edge.createEnvironment({ ...request, enabled: false }, administrator);
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
  });

  it('refuses a name that is in use and accepts it again after a deletion', async () => {
    const request = environmentRequest({ name: 'a-name' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => agents.edge.createEnvironment(request, administrator)),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(4).fill('NAME_TAKEN'));
    const [first] = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    await remove(first!.value.environment!.environmentId);
    await createdEnvironment(agents, { name: 'a-name' });
  });

  it('makes a new version for every change and keeps the former versions', async () => {
    const { environmentId, spec, updatedAt } = await createdEnvironment(agents);
    const network = { mode: 'limited', allowedHosts: ['EXAMPLE.com', '*.example.org:8443'] };
    expect(await update(environmentId, { network })).toMatchObject({
      version: 2,
      spec: { ...spec, network: { mode: 'limited', allowedHosts: ['example.com', '*.example.org:8443'] } },
    });
    const sandbox = { provider: 'simulated', image: '', commandTimeoutSeconds: 5 };
    await update(environmentId, { sandbox, network: SPEC.network });
    await update(environmentId, { tenancy: 'agent', idle: { timeoutSeconds: 1, action: 'release' } });
    await update(environmentId, { variables: { entries: {} } });
    const last = await update(environmentId, { enabled: false });
    expect(last.version).toBe(6);
    expect(last.updatedAt!.getTime()).toBeGreaterThanOrEqual(updatedAt!.getTime());
    expect(await read(environmentId)).toEqual(last);
    const versions = [];
    let cursor = '';
    do {
      const page = { limit: 4, cursor };
      const answer = await agents.edge.listEnvironmentVersions({ environmentId, page }, administrator);
      versions.push(...answer.versions);
      cursor = answer.page?.nextCursor ?? '';
    } while (cursor !== '');
    expect(versions.map(({ version }) => version)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(versions[0]).toEqual({
      environmentId,
      version: 6,
      spec: last.spec,
      enabled: false,
      createdBy: administrator.caller.userId,
      createdAt: last.updatedAt,
    });
    expect(versions[5]).toMatchObject({ spec, enabled: true });
    expect(versions[3]?.spec?.sandbox).toEqual(sandbox);
  });

  it('makes no version when nothing differs', async () => {
    const before = await createdEnvironment(agents, { spec: { ...SPEC, variables: { A: '1', B: '2' } } });
    const { sandbox, network, idle, tenancy } = SPEC;
    const variables = { entries: { B: '2', A: '1' } };
    const same = await update(before.environmentId, {
      sandbox,
      network,
      idle,
      tenancy,
      variables,
      enabled: true,
    });
    expect(same).toEqual(before);
    expect(await update(before.environmentId, {})).toEqual(before);
  });

  it('applies one of several concurrent updates with the same if_version', async () => {
    const { environmentId } = await createdEnvironment(agents);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) =>
        update(environmentId, { variables: { entries: { N: `${index}` } }, ifVersion: 1 }),
      ),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(4).fill('VERSION_CONFLICT'));
    expect(await read(environmentId)).toMatchObject({ version: 2 });
  });

  it('refuses a sandbox that does not support the existing network, and the reverse', async () => {
    const { environmentId } = await createdEnvironment(agents);
    await update(environmentId, { network: { mode: 'limited', allowedHosts: ['example.com'] } });
    const simulated = { provider: 'simulated', image: '', commandTimeoutSeconds: 5 };
    await expect(update(environmentId, { sandbox: simulated })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer: '/network/mode', message: expect.stringContaining('simulated') }],
    });
    expect(await read(environmentId)).toMatchObject({ version: 2 });
    await expect(update(environmentId, { sandbox: simulated, ifVersion: 1 })).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
    });
  });

  it('lists environments newest first, filtered by name or id', async () => {
    const names = ['listed-c', 'listed-b', 'listed-a'];
    const idsByName = new Map<string, string>();
    for (const name of names.toReversed()) {
      idsByName.set(name, (await createdEnvironment(agents, { name })).environmentId);
    }
    const list = async (q: string, page = firstPage) =>
      agents.edge.listEnvironments({ q, page }, administrator);
    const found = await list('LISTED');
    expect(found.environments.map(({ name }) => name)).toEqual(names);
    expect(found.environments[0]).toEqual(await read(idsByName.get('listed-c')!));
    const first = await list('listed', { limit: 2, cursor: '' });
    const second = await list('listed', { limit: 2, cursor: first.page!.nextCursor });
    expect(second.environments.map(({ name }) => name)).toEqual(['listed-a']);
    expect(second.page).toEqual({ nextCursor: '' });
    const byId = await list(idsByName.get('listed-b')!);
    expect(byId.environments.map(({ name }) => name)).toEqual(['listed-b']);
    expect((await list('_')).environments).toEqual([]);
    const foreign = list('other', { limit: 2, cursor: first.page!.nextCursor });
    await expect(foreign).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    const all = await agents.edge.listEnvironments({ q: '', page: undefined }, administrator);
    expect(all.environments.at(-1)).toMatchObject({ name: 'default' });
  });

  it('ends a page early to stay below the message size limit', async () => {
    const variables = Object.fromEntries(
      Array.from({ length: 7 }, (_, n) => [`V${n}`, '\u0001'.repeat(4_000)]),
    );
    const names = Array.from({ length: 30 }, (_, index) => `large-${index}`);
    for (const name of names) await createdEnvironment(agents, { name, spec: { ...SPEC, variables } });
    const seen: string[] = [];
    let cursor = '';
    let pages = 0;
    do {
      const answer = await agents.edge.listEnvironments(
        { q: 'large-', page: { limit: 100, cursor } },
        administrator,
      );
      seen.push(...answer.environments.map(({ name }) => name));
      cursor = answer.page?.nextCursor ?? '';
      pages += 1;
    } while (cursor !== '');
    expect(seen).toEqual(names.toReversed());
    expect(pages).toBeGreaterThan(1);
  });

  it('returns ENVIRONMENT_NOT_FOUND for an absent environment', async () => {
    for (const environmentId of [ABSENT_ENVIRONMENT, 'nonsense\0']) {
      await expect(read(environmentId)).rejects.toMatchObject(notFound);
      await expect(update(environmentId, { enabled: false, ifVersion: 9 })).rejects.toMatchObject(notFound);
      await expect(remove(environmentId)).rejects.toMatchObject(notFound);
      await expect(resolve(environmentId)).rejects.toMatchObject(notFound);
      const versions = agents.edge.listEnvironmentVersions({ environmentId, page: undefined }, administrator);
      await expect(versions).rejects.toMatchObject(notFound);
    }
  });

  it('refuses users who are not administrators', async () => {
    const { environmentId } = await createdEnvironment(agents);
    for (const send of [
      agents.edge.createEnvironment(environmentRequest(), alice),
      agents.edge.listEnvironments({ q: '', page: undefined }, alice),
      agents.edge.getEnvironment({ environmentId }, alice),
      agents.edge.getEnvironment({ environmentId: ABSENT_ENVIRONMENT }, alice),
      agents.edge.updateEnvironment(environmentChange(environmentId, { enabled: false }), alice),
      agents.edge.deleteEnvironment({ environmentId }, alice),
      agents.edge.listEnvironmentVersions({ environmentId, page: undefined }, alice),
    ]) {
      await expect(send).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
  });

  describe('an agent that names an environment', () => {
    it('must name an existing environment, which can be disabled', async () => {
      const { environmentId } = await createdEnvironment(agents, { enabled: false });
      const gone = await createdEnvironment(agents);
      await remove(gone.environmentId);
      const refused = { code: 'INVALID_REQUEST', details: [{ pointer: '/environment_id' }] };
      const agentId = await createAgent(agents, { runtime: { ...RUNTIME, environmentId } });
      const unknown = [ABSENT_ENVIRONMENT, gone.environmentId, 'env_1', '\0'];
      for (const id of unknown) {
        const runtime = { ...RUNTIME, environmentId: id };
        await expect(createAgent(agents, { runtime })).rejects.toMatchObject(refused);
        const changing = agents.edge.updateAgent(change(agentId, { environmentId: id }), alice);
        await expect(changing).rejects.toMatchObject(refused);
      }
      const { agent } = await agents.edge.getAgent({ agentId }, alice);
      expect(agent).toMatchObject({ version: 1, runtime: { environmentId } });
    });

    it('keeps the environment from being deleted until its newest version names another one', async () => {
      const { environmentId } = await createdEnvironment(agents);
      const inUse = { code: 'RESOURCE_IN_USE' };
      const runtime = { ...RUNTIME, environmentId };
      const first = await createAgent(agents, { runtime });
      const second = await createAgent(agents, { runtime }, bob);
      await expect(remove(environmentId)).rejects.toMatchObject(inUse);
      await agents.edge.updateAgent(change(first, { environmentId: '' }), alice);
      await expect(remove(environmentId)).rejects.toMatchObject(inUse);
      await agents.edge.deleteAgent({ agentId: second }, bob);
      await remove(environmentId);
      await expect(read(environmentId)).rejects.toMatchObject(notFound);
      await expect(resolve(environmentId)).rejects.toMatchObject(notFound);
    });

    it('never names an environment that is deleted concurrently', async () => {
      for (let round = 0; round < 10; round++) {
        const { environmentId } = await createdEnvironment(agents);
        const runtime = { ...RUNTIME, environmentId };
        const [removed, ...making] = await Promise.allSettled([
          remove(environmentId),
          createAgent(agents, { runtime }),
          createAgent(agents, { runtime }, bob),
        ]);
        const wasCreated = making.some(({ status }) => status === 'fulfilled');
        expect(removed.status).toBe(wasCreated ? 'rejected' : 'fulfilled');
      }
    });

    it('starts no session while the environment is disabled, and reports a disabled agent first', async () => {
      const { environmentId } = await createdEnvironment(agents);
      const agentId = await createAgent(agents, { runtime: { ...RUNTIME, environmentId } });
      const start = () => agents.as('deployments').resolveAgent({ agentId }, alice);
      await start();
      await update(environmentId, { enabled: false });
      await expect(start()).rejects.toMatchObject({ code: 'ENVIRONMENT_DISABLED' });
      await expect(resolve(environmentId)).rejects.toMatchObject({ code: 'ENVIRONMENT_DISABLED' });
      await agents.edge.updateAgent(change(agentId, { enabled: false }), alice);
      await expect(start()).rejects.toMatchObject({ code: 'AGENT_NOT_RUNNABLE' });
      await agents.edge.updateAgent(change(agentId, { enabled: true }), alice);
      await update(environmentId, { enabled: true });
      await start();
    });

    it('starts no session in the default environment while that is disabled', async () => {
      const agentId = await createAgent(agents);
      const start = () => agents.as('sessions').resolveAgent({ agentId }, alice);
      await update(DEFAULT, { enabled: false });
      await expect(start()).rejects.toMatchObject({ code: 'ENVIRONMENT_DISABLED' });
      await expect(resolve('')).rejects.toMatchObject({ code: 'ENVIRONMENT_DISABLED' });
      await update(DEFAULT, { enabled: true });
      await start();
    });
  });

  it('publishes a hint for each change, and waits for caches when enabled changes', async () => {
    const { environmentId } = await createdEnvironment(agents);
    calls.length = 0;
    await update(environmentId, { tenancy: 'agent' });
    expect(calls).toEqual([environmentId]);
    calls.length = 0;
    await update(environmentId, { enabled: false });
    // The first answer may have been lost.
    await update(environmentId, { enabled: false });
    expect(calls).toEqual([environmentId, 'propagated', environmentId, 'propagated']);
  });
});
