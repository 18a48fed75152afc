import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';

const BODIES = 2_000;
const AT_ONCE = 16;
const METHODS = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
];

/** Bodies that are close to valid ones: members are missing, doubled, of another type or unknown. */
const member = fc.oneof(
  fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'message', 'messageId', 'contextId', 'taskId', 'role'),
  fc.constantFrom('parts', 'text', 'raw', 'url', 'data', 'configuration', 'historyLength', 'pageToken'),
  fc.string({ maxLength: 8 }),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, 1, -1, 1e308, '', '2.0', 'ROLE_USER', '\ud800', ...METHODS),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(member, tie('value'), { maxKeys: 6 }),
  ),
}));
const request = fc
  .record({ method: fc.constantFrom(...METHODS), params: value })
  .map((one) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...one }));
const body = fc.oneof(
  { weight: 4, arbitrary: request },
  { weight: 2, arbitrary: value.map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: request.map((text) => text.slice(1)) },
  { weight: 1, arbitrary: fc.string() },
);

describe('malformed A2A requests', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('are answered with JSON-RPC, and store nothing', async () => {
    const agent = await api.createAgent({ exposure: { a2a: 'on' } });
    const bodies = fc.sample(body, { numRuns: BODIES, seed: 23 });
    const statuses = new Set<number>();
    for (let at = 0; at < bodies.length; at += AT_ONCE)
      await Promise.all(
        bodies.slice(at, at + AT_ONCE).map(async (text) => {
          const response = await fetch(`${system.url}/api/v1/a2a/${agent}`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
            body: text,
          });
          statuses.add(response.status);
          const answer = (await response.json()) as { jsonrpc?: string; result?: { tasks?: unknown } };
          expect(answer.jsonrpc, text).toBe('2.0');
          // A list without filters is no malformed request.
          if (answer.result) expect(answer.result.tasks, text).toEqual([]);
        }),
      );
    for (const status of statuses) expect([200, 400]).toContain(status);
    expect(await api.list('/sessions')).toEqual([]);
  });
});
