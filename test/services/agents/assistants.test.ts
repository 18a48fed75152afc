import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { ABSENT_ASSISTANT, assistantChange, assistantRequest, createdAssistant } from './assistants.ts';
import { ABSENT_ENVIRONMENT, createdEnvironment, environmentChange } from './environments.ts';
import {
  ABSENT,
  type AgentsSystem,
  administrator,
  alice,
  bob,
  createAgent,
  openAgentsSystem,
  RUNTIME,
} from './system.ts';

describe.each(TRANSPORTS)('assistants, %s', (transport) => {
  const calls: string[] = [];
  let agents: AgentsSystem;

  beforeAll(async () => {
    const bus = createLocalBus();
    bus.subscribe('agents.changed', (id) => calls.push(id));
    const awaitPropagation = async () => void calls.push('propagated');
    agents = await openAgentsSystem(transport, { bus: { ...bus, awaitPropagation } });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const notFound = { code: 'ASSISTANT_NOT_FOUND' };
  const firstPage = { limit: 100, cursor: '' };
  const read = async (assistantId: string, by = alice) =>
    (await agents.edge.getAssistant({ assistantId }, by)).assistant!;
  const update = async (assistantId: string, members: object, by = alice) =>
    (await agents.edge.updateAssistant(assistantChange(assistantId, members), by)).assistant!;
  const list = (q = '', by = alice) => agents.edge.listAssistants({ q, page: firstPage }, by);
  const resolve = (agentId: string, by = alice) => agents.as('sessions').resolveAgent({ agentId }, by);
  const runtimeOf = (agentId: string, version = 0) =>
    agents.as('runner').getAgentVersion({ agentId, version });

  it('returns an assistant as GetAssistant then returns it', async () => {
    const request = assistantRequest({
      name: ' Helper ',
      description: 'Helps',
      metadata: { a: 'b' },
      enabled: false,
    });
    const { assistant, replayed } = await agents.edge.createAssistant(request, alice);
    expect(replayed).toBe(false);
    expect(assistant).toEqual({
      assistantId: expect.stringMatching(/^ast_[0-9A-HJKMNP-TV-Z]{26}$/),
      name: 'Helper',
      description: 'Helps',
      runtime: { ...RUNTIME, budget: { maxTokens: undefined, maxTurnSeconds: undefined } },
      metadata: { a: 'b' },
      enabled: false,
      revision: 1,
      createdBy: alice.caller.userId,
      createdAt: expect.any(Date),
      updatedAt: assistant?.createdAt,
    });
    expect(await read(assistant!.assistantId)).toEqual(assistant);
  });

  it('replays a creation with the same idempotency key, and refuses the key for an agent', async () => {
    const request = assistantRequest({ idempotencyKey: `key-${transport}` });
    const { assistant } = await agents.edge.createAssistant(request, alice);
    await update(assistant!.assistantId, { name: 'Renamed' });
    expect(await agents.edge.createAssistant(request, alice)).toEqual({ assistant, replayed: true });
    const agent = agents.edge.createAgent({ ...request, visibility: 'private' }, alice);
    await expect(agent).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
  });

  it('applies the checks of agents and refuses an unknown environment', async () => {
    const refused = (pointers: string[]) => ({
      code: 'INVALID_REQUEST',
      details: pointers.map((pointer) => ({ pointer })),
    });
    const runtime = { ...RUNTIME, model: 'none', maxSteps: 0 };
    await expect(createdAssistant(agents, { name: '', runtime })).rejects.toMatchObject(
      refused(['/name', '/model', '/max_steps']),
    );
    const homeless = { runtime: { ...RUNTIME, environmentId: ABSENT_ENVIRONMENT } };
    await expect(createdAssistant(agents, homeless)).rejects.toMatchObject(refused(['/environment_id']));
    const { assistantId } = await createdAssistant(agents);
    await expect(update(assistantId, { environmentId: ABSENT_ENVIRONMENT })).rejects.toMatchObject(
      refused(['/environment_id']),
    );
    await expect(update(assistantId, { model: 'none' })).rejects.toMatchObject(refused(['/model']));
  });

  it('resolves to its newest runtime after every change', async () => {
    const before = await createdAssistant(agents);
    const { assistantId } = before;
    expect(await resolve(assistantId)).toEqual({ agentId: assistantId, version: 0 });
    for (const [index, system] of ['One', 'Two', 'Three'].entries()) {
      const after = await update(assistantId, { system });
      expect(after).toEqual({
        ...before,
        runtime: { ...before.runtime, system },
        revision: index + 2,
        updatedAt: expect.any(Date),
      });
      const { version } = await runtimeOf(assistantId);
      expect(version).toMatchObject({ agentId: assistantId, version: 0, runtime: after.runtime });
    }
    expect(await resolve(assistantId)).toEqual({ agentId: assistantId, version: 0 });
    for (const version of [1, 4, -1]) {
      await expect(runtimeOf(assistantId, version)).rejects.toMatchObject({
        code: 'AGENT_VERSION_NOT_FOUND',
      });
    }
    const foreign = agents.as('sessions').getAgentVersion({ agentId: assistantId, version: 0 }, bob);
    await expect(foreign).rejects.toMatchObject({ code: 'AGENT_VERSION_NOT_FOUND' });
  });

  it('applies all concurrent changes', async () => {
    const { assistantId } = await createdAssistant(agents);
    await Promise.all([
      update(assistantId, { name: 'Named' }),
      update(assistantId, { system: 'Said' }),
      update(assistantId, { metadata: { entries: { a: '1' } } }),
      update(assistantId, { maxSteps: 7 }),
    ]);
    expect(await read(assistantId)).toMatchObject({
      name: 'Named',
      metadata: { a: '1' },
      runtime: { system: 'Said', maxSteps: 7 },
    });
  });

  it('lists assistants newest first, filtered by name, description or id', async () => {
    const caller = { caller: { userId: `usr_${'C'.repeat(26)}`, roles: ['member'] } };
    const created = [];
    for (const name of ['one', 'two', 'three'])
      created.unshift(await createdAssistant(agents, { name }, caller));
    expect((await list('', caller)).assistants).toEqual(created);
    const seen: string[] = [];
    let cursor = '';
    do {
      const answer = await agents.edge.listAssistants({ q: '', page: { limit: 2, cursor } }, caller);
      seen.push(...answer.assistants.map(({ name }) => name));
      cursor = answer.page?.nextCursor ?? '';
    } while (cursor !== '');
    expect(seen).toEqual(['three', 'two', 'one']);
    expect((await list('TW', caller)).assistants).toEqual([created[1]]);
    expect((await list(created[2]!.assistantId, caller)).assistants).toEqual([created[2]]);
    const { page } = await agents.edge.listAssistants({ q: '', page: { limit: 1, cursor: '' } }, caller);
    const elsewhere = agents.edge.listAgents({ q: '', page: { limit: 1, cursor: page!.nextCursor } }, caller);
    await expect(elsewhere).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
  });

  it('never returns an assistant as an agent or an agent as an assistant', async () => {
    const { assistantId } = await createdAssistant(agents, { name: 'hidden' });
    const agentId = await createAgent(agents, { name: 'hidden' });
    const { edge } = agents;
    const listed = await edge.listAgents({ q: 'hidden', page: firstPage }, alice);
    expect(listed.agents.map((agent) => agent.agentId)).toEqual([agentId]);
    expect((await edge.listAgents({ q: assistantId, page: firstPage }, alice)).agents).toEqual([]);
    expect((await list('hidden')).assistants.map((one) => one.assistantId)).toEqual([assistantId]);
    const lookUp = agents.as('deployments').lookUpAgents;
    const names = { agents: [{ agentId, name: 'hidden' }] };
    expect(await lookUp({ agentIds: [assistantId, agentId], nameContains: '' }, alice)).toEqual(names);
    expect(await lookUp({ agentIds: [], nameContains: 'hidden' }, alice)).toEqual(names);
    const asAgent = { code: 'AGENT_NOT_FOUND' };
    await expect(edge.getAgent({ agentId: assistantId }, alice)).rejects.toMatchObject(asAgent);
    await expect(edge.deleteAgent({ agentId: assistantId }, alice)).rejects.toMatchObject(asAgent);
    const versions = edge.listAgentVersions({ agentId: assistantId, page: firstPage }, alice);
    await expect(versions).rejects.toMatchObject(asAgent);
    await expect(read(agentId)).rejects.toMatchObject(notFound);
    await expect(update(agentId, { name: 'x' })).rejects.toMatchObject(notFound);
    await expect(edge.deleteAssistant({ assistantId: agentId }, alice)).rejects.toMatchObject(notFound);
  });

  it('is hidden from other users in every RPC', async () => {
    const { assistantId } = await createdAssistant(agents);
    await expect(read(assistantId, bob)).rejects.toMatchObject(notFound);
    await expect(update(assistantId, { name: 'x' }, bob)).rejects.toMatchObject(notFound);
    await expect(agents.edge.deleteAssistant({ assistantId }, bob)).rejects.toMatchObject(notFound);
    await expect(resolve(assistantId, bob)).rejects.toMatchObject(notFound);
    expect((await list(assistantId, bob)).assistants).toEqual([]);
    await expect(read(ABSENT_ASSISTANT)).rejects.toMatchObject(notFound);
    await expect(resolve(ABSENT_ASSISTANT)).rejects.toMatchObject(notFound);
    await expect(resolve(ABSENT)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    for (const id of ['nonsense', '\0', '']) await expect(read(id)).rejects.toMatchObject(notFound);
    expect((await agents.as('files').getAssistant({ assistantId }, alice)).assistant).toMatchObject({
      assistantId,
    });
  });

  it('refuses to start sessions while the assistant or its environment is disabled', async () => {
    const { environmentId } = await createdEnvironment(agents);
    const { assistantId } = await createdAssistant(agents, { runtime: { ...RUNTIME, environmentId } });
    const turn = (enabled: boolean) =>
      agents.edge.updateEnvironment(environmentChange(environmentId, { enabled }), administrator);
    await turn(false);
    await expect(resolve(assistantId)).rejects.toMatchObject({ code: 'ENVIRONMENT_DISABLED' });
    await turn(true);
    await resolve(assistantId);
    calls.length = 0;
    await update(assistantId, { enabled: false });
    expect(calls).toEqual([assistantId, 'propagated']);
    await expect(resolve(assistantId)).rejects.toMatchObject({ code: 'AGENT_NOT_RUNNABLE' });
    // Running sessions continue.
    await runtimeOf(assistantId);
    const removal = agents.edge.deleteEnvironment({ environmentId }, administrator);
    await expect(removal).rejects.toMatchObject({ code: 'RESOURCE_IN_USE' });
    await agents.edge.deleteAssistant({ assistantId }, alice);
    await agents.edge.deleteEnvironment({ environmentId }, administrator);
  });

  it('is absent from every read after its deletion and starts no turn', async () => {
    const { assistantId } = await createdAssistant(agents, { name: 'doomed' });
    calls.length = 0;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 3 }, () => agents.edge.deleteAssistant({ assistantId }, alice)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(calls).toEqual([assistantId, 'propagated']);
    await expect(read(assistantId)).rejects.toMatchObject(notFound);
    await expect(update(assistantId, { name: 'x' })).rejects.toMatchObject(notFound);
    await expect(resolve(assistantId)).rejects.toMatchObject(notFound);
    await expect(runtimeOf(assistantId)).rejects.toMatchObject({ code: 'AGENT_VERSION_NOT_FOUND' });
    expect((await list('doomed')).assistants).toEqual([]);
  });
});
