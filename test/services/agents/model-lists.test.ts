import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentsSystem, agentRequest, alice, change, openAgentsSystem, RUNTIME } from './system.ts';

const ECHO = 'rehearsal/echo';
const SHELL = 'rehearsal/shell';
const SCRIPT = 'rehearsal/script';

describe('the models of an agent', () => {
  let agents: AgentsSystem;
  beforeAll(async () => {
    agents = await openAgentsSystem('in process');
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const create = async (model: string, names: string[]) => {
    const runtime = { ...RUNTIME, model, models: { names } };
    const { agent } = await agents.edge.createAgent(agentRequest({ runtime }), alice);
    return agent!;
  };
  const update = async (agentId: string, members: object) =>
    (await agents.edge.updateAgent(change(agentId, members), alice)).agent!;

  it('begin with its model, which can be left out', async () => {
    expect((await create('', [SHELL, ECHO])).runtime).toMatchObject({
      model: SHELL,
      models: { names: [SHELL, ECHO] },
    });
    expect((await create(SHELL, [SHELL, ECHO])).runtime).toMatchObject({
      model: SHELL,
      models: { names: [SHELL, ECHO] },
    });
    expect((await create('', [SHELL])).runtime).toMatchObject({ model: SHELL, models: { names: [] } });
  });

  it('change with a new version', async () => {
    const { agentId } = await create(ECHO, []);
    const changed = await update(agentId, { models: { names: [SHELL, ECHO] } });
    expect(changed).toMatchObject({
      version: 2,
      runtime: { model: SHELL, models: { names: [SHELL, ECHO] } },
    });
    expect(await update(agentId, { models: { names: [SHELL, ECHO] } })).toMatchObject({ version: 2 });
    expect(await update(agentId, { models: { names: [SHELL, SCRIPT] } })).toMatchObject({ version: 3 });
    expect(await update(agentId, { models: { names: [] } })).toMatchObject({
      version: 4,
      runtime: { model: SHELL, models: { names: [] } },
    });
  });

  it('keep the others when only the model changes', async () => {
    const { agentId } = await create(ECHO, [ECHO, SHELL, SCRIPT]);
    const { runtime } = await update(agentId, { model: SCRIPT });
    expect(runtime).toMatchObject({ model: SCRIPT, models: { names: [SCRIPT, SHELL] } });
    expect((await update(agentId, { model: SHELL })).runtime).toMatchObject({
      model: SHELL,
      models: { names: [] },
    });
  });

  it.each([
    ['another first model', ECHO, [SHELL, ECHO], '/model'],
    ['no model', '', [], '/model'],
    ['an unknown provider', '', [ECHO, 'nowhere/model'], '/models/1'],
    ['a repeated model', '', [ECHO, SHELL, ECHO], '/models/2'],
    ['too many models', '', Array.from({ length: 11 }, (_, index) => `local/${index}`), '/models'],
  ])('are refused with %s', async (_, model, names, pointer) => {
    await expect(create(model, names)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [expect.objectContaining({ pointer })],
    });
  });

  it('are refused in a change when both members name different models', async () => {
    const { agentId } = await create(ECHO, []);
    await expect(update(agentId, { model: SHELL, models: { names: [ECHO, SHELL] } })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer: '/model', message: 'must be the first of models' }],
    });
  });
});
