import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../../../lib/errors.ts';
import type { Attachment } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { countOn } from '../../support/sql.ts';
import { AGENT, createConversation, journalOf, OWNER, openSystem, STRANGER } from './system.ts';

const caller = OWNER;
const image = { type: 'image', media_type: 'image/png', name: 'a.png' };
const contentJson = JSON.stringify([{ type: 'text', text: 'Look' }, image]);
const uploadOf = (mediaType: string): Attachment => ({
  source: { $case: 'uploadId', value: `upl_${mediaType}` },
});
const inline = (bytes: string): Attachment => ({ source: { $case: 'data', value: Buffer.from(bytes) } });

describe.each(TRANSPORTS)('messages with attachments over %s', (transport) => {
  let system: Awaited<ReturnType<typeof openSystem>>;
  beforeAll(async () => {
    system = await openSystem(transport, {}, { quotaTurnsPerDay: 6 });
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => {
    const { storedParts, deleted, placedUploads } = system.neighbourCalls;
    for (const calls of [storedParts, deleted, placedUploads]) calls.length = 0;
    system.neighbourCalls.beforeStoreParts = undefined;
    system.neighbourCalls.beforePlaceUploads = undefined;
  });

  const send = (sessionId: string, members: object = {}, by = caller) =>
    system.edge.sendMessage(
      {
        ...{ sessionId, contentJson, busyPolicy: 'enqueue', idempotencyKey: '' },
        attachments: { attachments: [inline('pixels')] },
        ...members,
      },
      { caller: by },
    );
  const begin = (members: object = {}) =>
    system.edge.createConversation(
      {
        ...{ agentId: AGENT, contentJson, title: '', metadata: {}, idempotencyKey: '' },
        attachments: { attachments: [inline('pixels')] },
        ...members,
      },
      { caller },
    );
  const countSessions = () => countOn(system.database.url, 'select count(*) from sessions.sessions');

  it('journals the digest, size and media type of a part', async () => {
    const sessionId = await createConversation(system);
    await send(sessionId);
    const [message] = (await journalOf(system, sessionId)).filter(({ type }) => type === 'user.message');
    expect(JSON.parse(message?.json ?? '{}').data).toEqual({
      content: [
        { type: 'text', text: 'Look' },
        { ...image, sha256: 'a'.repeat(64), size: 6 },
      ],
    });
    expect(system.neighbourCalls.storedParts).toMatchObject([
      { sessionId, ownerId: OWNER.userId, assistantId: '', parts: [{ name: 'a.png', index: 1 }] },
    ]);
  });

  it('journals the media type of an upload', async () => {
    const sessionId = await createConversation(system);
    const attachments = { attachments: [uploadOf('text/csv')] };
    await send(sessionId, { contentJson: JSON.stringify([{ type: 'file' }]), attachments });
    const [message] = (await journalOf(system, sessionId)).filter(({ type }) => type === 'user.message');
    const [part] = JSON.parse(message?.json ?? '{}').data.content;
    expect(part).toMatchObject({ type: 'file', media_type: 'text/csv' });
    expect(system.neighbourCalls.storedParts).toHaveLength(1);
  });

  it('stores nothing again for a repeated key, and refuses other bytes under it', async () => {
    const sessionId = await createConversation(system);
    const first = await send(sessionId, { idempotencyKey: 'send' });
    const again = await send(sessionId, { idempotencyKey: 'send' });
    expect(again).toEqual({ ...first, replayed: true });
    const other = { idempotencyKey: 'send', attachments: { attachments: [inline('others')] } };
    await expect(send(sessionId, other)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
    expect(system.neighbourCalls.storedParts).toHaveLength(1);
  });

  it('returns the answer of a concurrent request with the same key after a refusal', async () => {
    const sessionId = await createConversation(system);
    const during = async (repeat: () => Promise<unknown>) => {
      system.neighbourCalls.beforeStoreParts = async () => {
        system.neighbourCalls.beforeStoreParts = undefined;
        await repeat();
        throw refuse('FILE_NOT_FOUND', 'The file was deleted.');
      };
      return repeat();
    };
    const sends: Awaited<ReturnType<typeof send>>[] = [];
    const sent = await during(async () => {
      const answer = await send(sessionId, { idempotencyKey: 'concurrent' });
      sends.push(answer);
      return answer;
    });
    expect(sent).toEqual({ ...sends[0], replayed: true });
    const begins: Awaited<ReturnType<typeof begin>>[] = [];
    const begun = await during(async () => {
      const answer = await begin({ idempotencyKey: 'concurrent begin' });
      begins.push(answer);
      return answer;
    });
    expect(begun).toEqual({ ...begins[0], replayed: true });
  });

  it.each([
    ['the number of attachments differs', { attachments: { attachments: [] } }, 'INVALID_REQUEST'],
    [
      'the model does not accept a media type',
      { contentJson: JSON.stringify([{ type: 'file', media_type: 'video/mp4' }]) },
      'CONTENT_NOT_SUPPORTED',
    ],
    [
      'the model does not accept the media type of an upload',
      {
        contentJson: JSON.stringify([image, { type: 'file' }]),
        attachments: { attachments: [inline('pixels'), uploadOf('video/mp4')] },
      },
      'CONTENT_NOT_SUPPORTED',
    ],
  ])('stores nothing when %s', async (_, members, code) => {
    const sessionId = await createConversation(system);
    await expect(send(sessionId, members)).rejects.toMatchObject({ code });
    const before = await countSessions();
    await expect(begin(members)).rejects.toMatchObject({ code });
    expect(await countSessions()).toBe(before);
    expect(system.neighbourCalls.storedParts).toEqual([]);
  });

  it('stores nothing for an archived session or the session of another user', async () => {
    const sessionId = await createConversation(system);
    await expect(send(sessionId, {}, STRANGER)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await system.edge.archiveSession({ sessionId }, { caller });
    await expect(send(sessionId)).rejects.toMatchObject({ code: 'SESSION_ARCHIVED' });
    expect(system.neighbourCalls.storedParts).toEqual([]);
  });

  it('passes a refusal of the files service on with the pointer of the part', async () => {
    const sessionId = await createConversation(system);
    system.neighbourCalls.beforeStoreParts = async () => {
      const details = [{ pointer: '/1/data', message: 'is too long' }];
      throw refuse('INVALID_REQUEST', '/1/data is too long', { details });
    };
    await expect(send(sessionId)).rejects.toMatchObject({
      message: '/content/1/data is too long',
      details: [{ pointer: '/content/1/data' }],
    });
    expect(await journalOf(system, sessionId)).toHaveLength(1);
  });

  it('creates a new session after its parts and files were stored, once per key', async () => {
    const files = { files: [{ path: 'a.csv', uploadId: 'upl_1' }] };
    const first = await begin({ files, idempotencyKey: 'begin' });
    const again = await begin({ files, idempotencyKey: 'begin' });
    expect(again).toEqual({ ...first, replayed: true });
    const sessionId = first.session?.sessionId;
    expect(system.neighbourCalls.storedParts).toMatchObject([{ sessionId }]);
    expect(system.neighbourCalls.placedUploads).toMatchObject([{ sessionId, ...files }]);
    expect(system.neighbourCalls.deleted).toEqual([]);
  });

  it.each([
    ['with parts', {}],
    ['without parts', { contentJson: '', attachments: undefined }],
  ])('stores nothing for a new session %s when a file is refused', async (_, members) => {
    const before = await countSessions();
    system.neighbourCalls.beforePlaceUploads = async () => {
      const details = [{ pointer: '/0/upload_id', message: 'is unknown' }];
      throw refuse('UPLOAD_NOT_FOUND', 'Unknown upload.', { details });
    };
    const files = { files: [{ path: 'a.csv', uploadId: 'upl_1' }] };
    await expect(begin({ files, ...members })).rejects.toMatchObject({
      ...{ code: 'UPLOAD_NOT_FOUND', details: [{ pointer: '/files/0/upload_id' }] },
    });
    expect(await countSessions()).toBe(before);
    expect(system.neighbourCalls.storedParts).toEqual([]);
    expect(system.neighbourCalls.deleted).toEqual([]);
  });

  it('discards the files of a new session when it is unknown whether they were written', async () => {
    system.neighbourCalls.beforePlaceUploads = async () => {
      throw refuse('DEADLINE_EXCEEDED', 'No answer in time.');
    };
    const files = { files: [{ path: 'a.csv', uploadId: 'upl_1' }] };
    const beginning = begin({ files, contentJson: '', attachments: undefined });
    await expect(beginning).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(system.neighbourCalls.deleted).toHaveLength(1);
  });

  it('discards what was stored for a new session whose commit failed', async () => {
    const before = await countSessions();
    const results = await Promise.allSettled(Array.from({ length: 7 }, () => begin()));
    const failed = results.filter(({ status }) => status === 'rejected');
    expect(failed.length).toBeGreaterThan(0);
    expect(await countSessions()).toBe(before + results.length - failed.length);
    expect(system.neighbourCalls.deleted).toHaveLength(failed.length);
  });
});
