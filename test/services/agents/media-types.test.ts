import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptsMediaType } from '../../../lib/model-media.ts';
import { createModelTable } from '../../../lib/models/table.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { ABSENT, type AgentsSystem, createAgent, openAgentsSystem, RUNTIME } from './system.ts';

describe.each(TRANSPORTS)('ResolveOverrides with media types, %s', (transport) => {
  let agents: AgentsSystem;

  beforeAll(async () => {
    agents = await openAgentsSystem(transport);
  });
  afterAll(() => agents[Symbol.asyncDispose]());

  const resolve = (agentId: string, mediaTypes: string[], agentVersion = 1) =>
    agents.as('sessions').resolveOverrides({
      agentId,
      agentVersion,
      sessionOverridesJson: '',
      overridesJson: '',
      mediaTypes,
    });

  it('refuses a media type that the model does not accept, with its index', async () => {
    const agentId = await createAgent(agents, { runtime: { ...RUNTIME, model: 'rehearsal/shell' } });
    await expect(resolve(agentId, ['', 'image/png'])).rejects.toMatchObject({
      code: 'CONTENT_NOT_SUPPORTED',
      message: expect.stringMatching(/rehearsal\/shell .* image\/png/),
      details: [{ pointer: '/1/media_type' }],
    });
    await expect(resolve(agentId, ['', ''])).resolves.toEqual({ overridesJson: '' });
  });

  it('lets a model with unknown capabilities be tried', async () => {
    const agentId = await createAgent(agents, { runtime: { ...RUNTIME, model: 'local/some-model' } });
    await expect(resolve(agentId, ['image/png', 'video/mp4'])).resolves.toEqual({ overridesJson: '' });
  });

  it('refuses a version that does not exist', async () => {
    await expect(resolve(ABSENT, ['image/png'])).rejects.toMatchObject({ code: 'AGENT_VERSION_NOT_FOUND' });
  });
});

describe('acceptsMediaType', () => {
  it.each([
    ['rehearsal/echo', 'application/zip', true],
    ['rehearsal/shell', 'text/plain', false],
    ['anthropic/claude-sonnet-4-5', 'application/pdf', true],
    ['anthropic/claude-sonnet-4-5', 'image/webp', true],
    ['anthropic/claude-sonnet-4-5', 'audio/mpeg', false],
    ['anthropic/claude-2.1', 'image/png', false],
    ['openai/gpt-5.1', 'application/pdf', true],
    ['openai/gpt-3.5-turbo', 'image/png', false],
    ['openai/gpt-3.5-turbo', 'text/csv; charset=utf-8', true],
    ['openai/gpt-4', 'image/png', false],
    ['openai/some-fine-tune', 'image/png', undefined],
    ['local/llava', 'image/png', undefined],
  ])('of %s and %s is %s', (model, mediaType, expected) => {
    expect(acceptsMediaType(createModelTable().find(model), mediaType)).toBe(expected);
  });
});
