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
  type AgentsUnderTest,
  alice,
  bob,
  change,
  created,
  openAgentsUnderTest,
  RUNTIME,
  root,
} from './open.ts';

describe.each(TRANSPORTS)('environments, %s', (transport) => {
  const told: string[] = [];
  let agents: AgentsUnderTest;

  beforeAll(async () => {
    const bus = createLocalBus();
    bus.subscribe('environments.changed', (environmentId) => told.push(environmentId));
    const settle = async () => void told.push('settled');
    agents = await openAgentsUnderTest(transport, { bus: { ...bus, settle } });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const notFound = { code: 'ENVIRONMENT_NOT_FOUND' };
  const firstPage = { limit: 100, cursor: '' };
  const read = async (environmentId: string) =>
    (await agents.edge.getEnvironment({ environmentId }, root)).environment!;
  const update = async (environmentId: string, members: object) =>
    (await agents.edge.updateEnvironment(environmentChange(environmentId, members), root)).environment!;
  const remove = (environmentId: string) => agents.edge.deleteEnvironment({ environmentId }, root);
  const resolve = (environmentId: string) => agents.as('runner').resolveEnvironment({ environmentId });

  it('what is done with them is written down first, and not done when that is not possible', async () => {
    const { ledger } = agents;
    ledger.take();
    const { environmentId } = await createdEnvironment(agents);
    await update(environmentId, { enabled: false });
    ledger.isClosed = true;
    const closed = { code: 'DEPENDENCY_UNAVAILABLE' };
    await expect(createdEnvironment(agents)).rejects.toMatchObject(closed);
    await expect(update(environmentId, { enabled: true })).rejects.toMatchObject(closed);
    await expect(remove(environmentId)).rejects.toMatchObject(closed);
    ledger.isClosed = false;
    expect(await read(environmentId)).toMatchObject({ enabled: false, version: 2 });
    await remove(environmentId);
    expect(ledger.take()).toEqual(
      ['create', 'update', 'delete'].map(
        (act) => `${root.caller.userId} environment.${act} ${environmentId}`,
      ),
    );
  });

  describe('the default one', () => {
    it('is there from the beginning, and is what no name means', async () => {
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

    it('is one, however many replicas start', async () => {
      const { databaseUrl } = agents;
      const others = await Promise.all(
        Array.from({ length: 3 }, () => openAgentsUnderTest(transport, { databaseUrl })),
      );
      await using stack = new AsyncDisposableStack();
      for (const other of others) stack.use(other);
      for (const { edge } of others) {
        const { environments } = await edge.listEnvironments({ q: 'default', page: firstPage }, root);
        expect(environments.map(({ environmentId }) => environmentId)).toEqual([DEFAULT]);
      }
    });
  });

  it('gives an environment back as it is then read', async () => {
    const request = environmentRequest({ enabled: false });
    const { environment, replayed } = await agents.edge.createEnvironment(request, root);
    expect(replayed).toBe(false);
    expect(environment).toEqual({
      environmentId: expect.stringMatching(/^env_[0-9A-HJKMNP-TV-Z]{26}$/),
      name: request.name,
      spec: SPEC,
      enabled: false,
      version: 1,
      isDefault: false,
      createdBy: root.caller.userId,
      createdAt: expect.any(Date),
      updatedAt: environment?.createdAt,
    });
    expect(await read(environment!.environmentId)).toEqual(environment);
  });

  it('repeats a creation with the same key, and refuses another one', async () => {
    const request = environmentRequest({ idempotencyKey: `once-${transport}` });
    const { environment } = await agents.edge.createEnvironment(request, root);
    await update(environment!.environmentId, { enabled: false });
    expect(await agents.edge.createEnvironment(request, root)).toEqual({ environment, replayed: true });
    const other = agents.edge.createEnvironment({ ...request, enabled: false }, root);
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
  });

  it('gives a name to one environment at a time, and anew when that one is gone', async () => {
    const request = environmentRequest({ name: 'a-name' });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => agents.edge.createEnvironment(request, root)),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(4).fill('NAME_TAKEN'));
    const [first] = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    await remove(first!.value.environment!.environmentId);
    await createdEnvironment(agents, { name: 'a-name' });
  });

  it('makes a new version of every change, and keeps what was', async () => {
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
      const answer = await agents.edge.listEnvironmentVersions({ environmentId, page }, root);
      versions.push(...answer.versions);
      cursor = answer.page?.nextCursor ?? '';
    } while (cursor !== '');
    expect(versions.map(({ version }) => version)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(versions[0]).toEqual({
      environmentId,
      version: 6,
      spec: last.spec,
      enabled: false,
      createdBy: root.caller.userId,
      createdAt: last.updatedAt,
    });
    expect(versions[5]).toMatchObject({ spec, enabled: true });
    expect(versions[3]?.spec?.sandbox).toEqual(sandbox);
  });

  it('changes nothing when nothing differs', async () => {
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

  it('lets one of those through who have all seen the same version', async () => {
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

  it('refuses a part that does not fit what is there of the other', async () => {
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

  it('lists them newest first, by a part of the name or an id', async () => {
    const names = ['listed-c', 'listed-b', 'listed-a'];
    const made = new Map<string, string>();
    for (const name of names.toReversed()) {
      made.set(name, (await createdEnvironment(agents, { name })).environmentId);
    }
    const list = async (q: string, page = firstPage) => agents.edge.listEnvironments({ q, page }, root);
    const found = await list('LISTED');
    expect(found.environments.map(({ name }) => name)).toEqual(names);
    expect(found.environments[0]).toEqual(await read(made.get('listed-c')!));
    const first = await list('listed', { limit: 2, cursor: '' });
    const second = await list('listed', { limit: 2, cursor: first.page!.nextCursor });
    expect(second.environments.map(({ name }) => name)).toEqual(['listed-a']);
    expect(second.page).toEqual({ nextCursor: '' });
    const byId = await list(made.get('listed-b')!);
    expect(byId.environments.map(({ name }) => name)).toEqual(['listed-b']);
    expect((await list('_')).environments).toEqual([]);
    const foreign = list('other', { limit: 2, cursor: first.page!.nextCursor });
    await expect(foreign).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    const all = await agents.edge.listEnvironments({ q: '', page: undefined }, root);
    expect(all.environments.at(-1)).toMatchObject({ name: 'default' });
  });

  it('ends a page early rather than send more than a message holds', async () => {
    const variables = Object.fromEntries(
      Array.from({ length: 7 }, (_, n) => [`V${n}`, '\u0001'.repeat(4_000)]),
    );
    const names = Array.from({ length: 30 }, (_, index) => `large-${index}`);
    for (const name of names) await createdEnvironment(agents, { name, spec: { ...SPEC, variables } });
    const seen: string[] = [];
    let cursor = '';
    let pages = 0;
    do {
      const answer = await agents.edge.listEnvironments({ q: 'large-', page: { limit: 100, cursor } }, root);
      seen.push(...answer.environments.map(({ name }) => name));
      cursor = answer.page?.nextCursor ?? '';
      pages += 1;
    } while (cursor !== '');
    expect(seen).toEqual(names.toReversed());
    expect(pages).toBeGreaterThan(1);
  });

  it('names what is not there', async () => {
    for (const environmentId of [ABSENT_ENVIRONMENT, 'nonsense\0']) {
      await expect(read(environmentId)).rejects.toMatchObject(notFound);
      await expect(update(environmentId, { enabled: false, ifVersion: 9 })).rejects.toMatchObject(notFound);
      await expect(remove(environmentId)).rejects.toMatchObject(notFound);
      await expect(resolve(environmentId)).rejects.toMatchObject(notFound);
      const versions = agents.edge.listEnvironmentVersions({ environmentId, page: undefined }, root);
      await expect(versions).rejects.toMatchObject(notFound);
    }
  });

  it('is for administrators alone', async () => {
    const { environmentId } = await createdEnvironment(agents);
    for (const ask of [
      agents.edge.createEnvironment(environmentRequest(), alice),
      agents.edge.listEnvironments({ q: '', page: undefined }, alice),
      agents.edge.getEnvironment({ environmentId }, alice),
      agents.edge.getEnvironment({ environmentId: ABSENT_ENVIRONMENT }, alice),
      agents.edge.updateEnvironment(environmentChange(environmentId, { enabled: false }), alice),
      agents.edge.deleteEnvironment({ environmentId }, alice),
      agents.edge.listEnvironmentVersions({ environmentId, page: undefined }, alice),
    ]) {
      await expect(ask).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
  });

  describe('whoever names one', () => {
    it('has to name one that is there, disabled or not', async () => {
      const { environmentId } = await createdEnvironment(agents, { enabled: false });
      const gone = await createdEnvironment(agents);
      await remove(gone.environmentId);
      const refused = { code: 'INVALID_REQUEST', details: [{ pointer: '/environment_id' }] };
      const agentId = await created(agents, { runtime: { ...RUNTIME, environmentId } });
      const unknown = [ABSENT_ENVIRONMENT, gone.environmentId, 'env_1', '\0'];
      for (const id of unknown) {
        const runtime = { ...RUNTIME, environmentId: id };
        await expect(created(agents, { runtime })).rejects.toMatchObject(refused);
        const changing = agents.edge.updateAgent(change(agentId, { environmentId: id }), alice);
        await expect(changing).rejects.toMatchObject(refused);
      }
      const { agent } = await agents.edge.getAgent({ agentId }, alice);
      expect(agent).toMatchObject({ version: 1, runtime: { environmentId } });
    });

    it('keeps it from being deleted, until the newest version names it no more', async () => {
      const { environmentId } = await createdEnvironment(agents);
      const inUse = { code: 'RESOURCE_IN_USE' };
      const runtime = { ...RUNTIME, environmentId };
      const first = await created(agents, { runtime });
      const second = await created(agents, { runtime }, bob);
      await expect(remove(environmentId)).rejects.toMatchObject(inUse);
      await agents.edge.updateAgent(change(first, { environmentId: '' }), alice);
      await expect(remove(environmentId)).rejects.toMatchObject(inUse);
      await agents.edge.deleteAgent({ agentId: second }, bob);
      await remove(environmentId);
      await expect(read(environmentId)).rejects.toMatchObject(notFound);
      await expect(resolve(environmentId)).rejects.toMatchObject(notFound);
    });

    it('never names one that is being deleted at the same time', async () => {
      for (let round = 0; round < 10; round++) {
        const { environmentId } = await createdEnvironment(agents);
        const runtime = { ...RUNTIME, environmentId };
        const [removed, ...making] = await Promise.allSettled([
          remove(environmentId),
          created(agents, { runtime }),
          created(agents, { runtime }, bob),
        ]);
        const made = making.some(({ status }) => status === 'fulfilled');
        expect(removed.status).toBe(made ? 'rejected' : 'fulfilled');
      }
    });

    it('starts nothing while it is disabled, and the agent is asked first', async () => {
      const { environmentId } = await createdEnvironment(agents);
      const agentId = await created(agents, { runtime: { ...RUNTIME, environmentId } });
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

    it('starts nothing in the default one while that is disabled', async () => {
      const agentId = await created(agents);
      const start = () => agents.as('sessions').resolveAgent({ agentId }, alice);
      await update(DEFAULT, { enabled: false });
      await expect(start()).rejects.toMatchObject({ code: 'ENVIRONMENT_DISABLED' });
      await expect(resolve('')).rejects.toMatchObject({ code: 'ENVIRONMENT_DISABLED' });
      await update(DEFAULT, { enabled: true });
      await start();
    });
  });

  it('tells of a change, and answers to one of enabled when nobody can still trust the old state', async () => {
    const { environmentId } = await createdEnvironment(agents);
    told.length = 0;
    await update(environmentId, { tenancy: 'agent' });
    expect(told).toEqual([environmentId]);
    told.length = 0;
    await update(environmentId, { enabled: false });
    // The first answer may have been lost.
    await update(environmentId, { enabled: false });
    expect(told).toEqual([environmentId, 'settled', environmentId, 'settled']);
  });
});
