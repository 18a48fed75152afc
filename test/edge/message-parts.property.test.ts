import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { type Api, createApi } from '../support/api.ts';
import { countOn } from '../support/sql.ts';
import { type System, startSystem } from '../support/system.ts';
import { base64, PNG } from './message-parts.ts';

const RUNS = 300;

/** Values that no member of a part may have. */
const wrong = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom(
    '',
    '\0',
    '\ud800',
    '../a',
    '/etc/passwd',
    'http://a/b',
    'data:image/png;base64,AAAA',
    'A===',
    {},
  ),
);
const member = fc.constantFrom(
  'type',
  'text',
  'media_type',
  'name',
  'path',
  'data',
  'upload_id',
  'url',
  'sha256',
  'size',
);
const valid = { type: 'image', media_type: 'image/png', data: base64(PNG) };

/** A valid part with other or additional members, or any other value. */
const part = fc.oneof(
  fc.dictionary(member, wrong, { maxKeys: 4 }).map((members) => ({ ...valid, ...members })),
  fc.dictionary(member, wrong, { maxKeys: 4 }),
  wrong,
);

describe('malformed contents of messages', () => {
  let system: System;
  let api: Api;
  let agent: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    agent = await api.createAgent();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const counts = async () => ({
    turns: await countOn(system.databaseUrl, 'select count(*) from sessions.turns'),
    parts: await countOn(system.databaseUrl, 'select count(*) from files.parts'),
  });

  it.each(['content', 'message'] as const)('in %s are refused by name and store nothing', async (name) => {
    const begun = await api.post(`/agents/${agent}/conversations`);
    const session = String(begun.body.data.session_id);
    const path = name === 'content' ? `/sessions/${session}/messages` : `/agents/${agent}/conversations`;
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        async (parts, nested) => {
          const before = await counts();
          const value = nested && name === 'message' ? { content: parts } : parts;
          const { status, body } = await api.post(path, { [name]: value });
          if (status < 300) return;
          expect(status).toBeLessThan(500);
          expect(ERRORS[body.code as ErrorCode].status).toBe(status);
          expect(await counts()).toEqual(before);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
