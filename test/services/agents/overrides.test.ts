import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Refusal } from '../../../lib/errors.ts';
import type { AgentTool } from '../../../services/agents/domain/runtime-fields.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AgentsSystem, alice, createAgent, openAgentsSystem, RUNTIME } from './system.ts';

const OVERRIDABLE = {
  names: ['model', 'system', 'tools', 'model_options', 'max_steps', 'budget', 'output_schema'],
};
const TOOLS: AgentTool[] = [{ name: 'bash', permission: 'ask' }];

describe.each(TRANSPORTS)('ResolveOverrides, %s', (transport) => {
  let agents: AgentsSystem;
  let agentId = '';
  beforeAll(async () => {
    agents = await openAgentsSystem(transport);
    const budget = { maxTokens: 100, maxTurnSeconds: undefined };
    const runtime = { ...RUNTIME, tools: TOOLS, budget, overridable: OVERRIDABLE };
    agentId = await createAgent(agents, { runtime });
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  function resolve(overrides: unknown, session?: unknown) {
    return agents.as('sessions').resolveOverrides({
      agentId,
      agentVersion: 1,
      sessionOverridesJson: session === undefined ? '' : JSON.stringify(session),
      overridesJson: overrides === undefined ? '' : JSON.stringify(overrides),
      mediaTypes: [],
    });
  }

  it('returns every override that the agent allows, those of the message before those of the session', async () => {
    const session = { model: 'rehearsal/script', max_steps: 3, budget: { max_tokens: 10 } };
    const message = {
      max_steps: 1_000,
      system: { mode: 'append', text: 'Be brief.' },
      tools: [
        { name: 'bash', permission: 'deny' },
        { name: 'calculator', permission: 'ask' },
      ],
      model_options: { seed: 1 },
      budget: { max_tokens: 100, max_turn_seconds: 5 },
      output_schema: { type: 'object' },
    };
    const { overridesJson } = await resolve(message, session);
    expect(JSON.parse(overridesJson)).toEqual({ ...session, ...message });
    expect(JSON.parse((await resolve(undefined, session)).overridesJson)).toEqual(session);
    expect((await resolve(undefined)).overridesJson).toBe('');
  });

  it.each([
    [{ model: 'unknown/model' }, '/model'],
    [{ model: 'openai/gpt', model_options: { nothing: 1 } }, '/model_options/nothing'],
    [{ system: { mode: 'prepend', text: '' } }, '/system/mode'],
    [{ system: { mode: 'append' } }, '/system/text'],
    [{ tools: [{ name: 'bash', permission: 'allow' }] }, '/tools/0/permission'],
    [{ tools: [{ name: 'nothing', permission: 'deny' }] }, '/tools/0/name'],
    [{ model_options: { temperature: 'hot' } }, '/model_options/temperature'],
    [{ max_steps: 0 }, '/max_steps'],
    [{ budget: { max_tokens: 101 } }, '/budget/max_tokens'],
    [{ budget: { max_turn_seconds: 0 } }, '/budget/max_turn_seconds'],
    [{ budget: { max_money: 1 } }, '/budget/max_money'],
    [{ output_schema: { type: 'text' } }, '/output_schema/type'],
    [{ everything: true }, '/everything'],
  ])('refuses an invalid or wider value with its pointer: %j', async (overrides, pointer) => {
    await expect(resolve(overrides)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer }],
    });
  });

  it('refuses settings that the agent does not make overridable with their pointers', async () => {
    const strict = await createAgent(agents, { runtime: { ...RUNTIME, overridable: { names: ['model'] } } });
    const request = { agentId: strict, agentVersion: 1, sessionOverridesJson: '', mediaTypes: [] };
    const overridesJson = JSON.stringify({ model: 'rehearsal/echo', max_steps: 1, output_schema: true });
    await expect(agents.as('sessions').resolveOverrides({ ...request, overridesJson })).rejects.toMatchObject(
      {
        code: 'OVERRIDE_NOT_ALLOWED',
        details: [{ pointer: '/max_steps' }, { pointer: '/output_schema' }],
      },
    );
  });

  it('refuses arbitrary JSON only with INVALID_REQUEST', async () => {
    const members = Object.fromEntries(
      OVERRIDABLE.names.map((name) => [name, fc.jsonValue({ maxDepth: 4 })]),
    );
    await fc.assert(
      fc.asyncProperty(fc.record(members, { requiredKeys: [] }), async (overrides) => {
        const error = await resolve(overrides).then(
          () => undefined,
          (failure: Refusal) => failure,
        );
        expect(error?.code ?? 'INVALID_REQUEST').toMatch(/^INVALID_(REQUEST|TEXT)$/);
      }),
      { numRuns: 100 },
    );
  });
});

describe('CreateAgent', () => {
  it.each([
    [{ outputSchemaJson: '{"$ref":"https://example.com"}' }, '/output_schema/$ref'],
    [{ outputSchemaJson: JSON.stringify({ title: 'x'.repeat(65_536) }) }, '/output_schema'],
    [{ outputSchemaJson: '{' }, '/output_schema'],
    [{ overridable: { names: ['model', 'name'] } }, '/overridable/1'],
  ])('refuses %j', async (members, pointer) => {
    await using agents = await openAgentsSystem('in process');
    await expect(createAgent(agents, { runtime: { ...RUNTIME, ...members } }, alice)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer }],
    });
  });
});
