import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';

const BODIES = 2_000;
const AT_ONCE = 16;

/** Bodies that are close to valid ones: members are missing, doubled, of another type or unknown. */
const member = fc.oneof(
  fc.constantFrom('model', 'messages', 'input', 'stream', 'role', 'content', 'type', 'text', 'image_url'),
  fc.constantFrom('response_format', 'metadata', 'tools', 'n', 'previous_response_id', 'conversation'),
  fc.string({ maxLength: 8 }),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(
      null,
      true,
      1,
      -1,
      1e308,
      '',
      'user',
      'text',
      'data:image/png;base64,!',
      '\ud800',
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(member, tie('value'), { maxKeys: 6 }),
  ),
}));
const body = fc.oneof(
  { weight: 4, arbitrary: value.map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: value.map((one) => JSON.stringify(one).slice(1)) },
  { weight: 1, arbitrary: fc.string() },
);

describe('malformed requests of the OpenAI-compatible API', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it.each([
    ['POST', '/chat/completions'],
    ['POST', '/responses'],
    ['POST', '/responses/resp_x/cancel'],
    ['GET', '/responses/'],
    ['GET', '/models/'],
  ])('%s %s answers with an error of its own, and stores nothing', async (method, path) => {
    const bodies = fc.sample(body, { numRuns: BODIES, seed: 23 });
    const statuses = new Set<number>();
    for (let at = 0; at < bodies.length; at += AT_ONCE)
      await Promise.all(
        bodies.slice(at, at + AT_ONCE).map(async (text) => {
          const isRead = method === 'GET';
          const suffix = isRead ? encodeURIComponent(text.toWellFormed().slice(0, 60) || 'x') : '';
          const response = await fetch(`${system.url}/api/v1/openai/v1${path}${suffix}`, {
            method,
            headers: { 'Content-Type': 'application/json' },
            ...(!isRead && { body: text }),
          });
          statuses.add(response.status);
          const { error } = (await response.json()) as { error?: { message?: string } };
          expect(error?.message, text).toBeTypeOf('string');
        }),
      );
    for (const status of statuses) expect([400, 404]).toContain(status);
    expect(await api.list('/sessions')).toEqual([]);
  });
});
