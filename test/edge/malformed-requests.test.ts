import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../support/api.ts';
import { realLane } from '../support/lane.ts';
import { type System, startSystem } from '../support/system.ts';
import { createFit, type Document, type Operation, operationsOf } from './document.ts';
import { createObjects, type Objects } from './malformed/objects.ts';
import { OPERATIONS } from './malformed/operations.ts';
import { createSender } from './malformed/send.ts';
import { storedRows } from './malformed/stored-rows.ts';

/** Lane 1 sends few requests with a fixed seed, lane 2 more of them with a new seed in each run. */
const REQUESTS = realLane ? 500 : 50;
const SEED = realLane ? Date.now() : 1;

describe('malformed requests', () => {
  let system: System;
  let objects: Objects;
  let document: Document;
  let operations: Operation[];
  let sender: ReturnType<typeof createSender>;
  beforeAll(async () => {
    system = await startSystem();
    objects = await createObjects(createApi(system.url));
    document = (await (await fetch(`${system.url}/openapi.json`)).json()) as Document;
    operations = operationsOf(document);
    sender = createSender(system.url);
  });
  afterAll(async () => {
    sender?.[Symbol.dispose]();
    await system?.[Symbol.asyncDispose]();
  });

  const bodySchema = (id: string | undefined) =>
    operations.find(({ operationId }) => operationId === id)?.requestBody?.content['application/json']
      ?.schema;
  const operationAt = (method: string, path: string) =>
    operations.find(
      (one) => one.method === method && pattern(one).test(`/api/v1${path.replace(/\?.*$/s, '')}`),
    );

  it.each(OPERATIONS)(
    'of $name are refused with documented errors and store nothing',
    {
      timeout: 300_000,
    },
    async ({ operationId, requests, mayRead }) => {
      const schema = bodySchema(operationId);
      const fits = schema ? createFit(document, schema) : () => false;
      const samples = fc.sample(requests(objects, fits), { numRuns: REQUESTS, seed: SEED });
      const before = await storedRows(system.databaseUrl);
      await sender.sendAll(samples, (request, { status, text }) => {
        const context = `seed ${SEED}: ${JSON.stringify(request).slice(0, 2_000)} ${status} ${text.slice(0, 500)}`;
        if (mayRead && status < 400) return;
        expect(Math.floor(status / 100), context).toBe(4);
        const { errors } = operationAt(request.method, request.path) ?? {};
        expect(errors?.get(status), context).toContain(JSON.parse(text).code);
      });
      expect(await storedRows(system.databaseUrl), `seed ${SEED}`).toEqual(before);
    },
  );
});

function pattern({ path }: Operation): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]*')}$`);
}
