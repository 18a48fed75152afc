import { open, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Blobs } from '../../../lib/blobs/blobs.ts';
import { createLog } from '../../../lib/log.ts';
import type { WriteContentsRequest } from '../../../proto/gen/ahs/files/v1/files.ts';
import { chunksOf, patternBytes } from '../../support/blob-conformance.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn } from '../../support/sql.ts';
import {
  change,
  type FilesSystem,
  link,
  MIB,
  mkdir,
  OWNER,
  ofSession,
  openFilesSystem,
  put,
  read,
  readText,
  STRANGER,
  sha256,
  upload,
  uploadOf,
  write,
} from './system.ts';

const caller = OWNER;
const FILE_MAX = 32 * MIB;
const WORKSPACE_MAX = 3 * FILE_MAX;

/** The number of objects, and of contents that name them. */
async function stored(system: FilesSystem) {
  const objects = (await Array.fromAsync(system.blobs.list())).map(({ key }) => key);
  const rows = await rowsOn<{ object_key: string; content_id: string; sha256: string }>(
    system.database.url,
    'select object_key, content_id, sha256 from files.contents',
  );
  return { objects, rows };
}

describe.each(TRANSPORTS)('WriteContents and ReadContent, %s', (transport) => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem(
      transport,
      {},
      { fileMaxBytes: FILE_MAX, workspaceMaxBytes: WORKSPACE_MAX },
    );
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const newPlace = () => ofSession(system.fakes.session());
  const send = (messages: AsyncIterable<WriteContentsRequest>) =>
    system.edge.writeContents(messages, { caller });

  it('returns small and large contents in the order of the upload, and reads them back', async () => {
    const place = newPlace();
    const sizes = [0, 1, 3 * MIB + 7, 256 * 1024, 256 * 1024 + 1, MIB, 5, 2 * MIB, 0];
    const files = sizes.map((size, index) => patternBytes(size, index + 1));
    const contents = await upload(system.edge, place, files);
    expect(contents.map(({ size, sha256: digest }) => ({ size, digest }))).toEqual(
      files.map((file) => ({ size: file.length, digest: sha256(file) })),
    );
    await change(
      system.edge,
      place,
      contents.map(({ contentId }, index) => put(`f${index}`, contentId)),
    );
    for (const [index, file] of files.entries()) {
      expect((await read(system.edge, place, `f${index}`)).equals(file)).toBe(true);
    }
  });

  it('reads any byte range, whether or not it is aligned to blocks', async () => {
    const place = newPlace();
    const bytes = patternBytes(3 * MIB + 100);
    await write(system.edge, place, { f: bytes });
    const ranges = [
      [0, 1],
      [0, MIB],
      [MIB - 1, 2],
      [MIB, MIB],
      [1, 3 * MIB],
      [3 * MIB + 99, 1],
      [3 * MIB + 99, 1_000],
      [2 * MIB + 1, undefined],
      [5, 0],
    ] as const;
    for (const [offset, length] of ranges) {
      const expected = bytes.subarray(offset, length === undefined ? undefined : offset + length);
      expect((await read(system.edge, place, 'f', { offset, length })).equals(expected)).toBe(true);
    }
  });

  it('refuses ranges beyond the end of a file', async () => {
    const place = newPlace();
    await write(system.edge, place, { f: 'hello', empty: '' });
    await expect(read(system.edge, place, 'f', { offset: 5 })).rejects.toMatchObject({
      code: 'RANGE_NOT_SATISFIABLE',
    });
    await expect(read(system.edge, place, 'f', { offset: -1 })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    await expect(read(system.edge, place, 'empty', { offset: 1 })).rejects.toMatchObject({
      code: 'RANGE_NOT_SATISFIABLE',
    });
    expect(await readText(system.edge, place, 'empty')).toBe('');
  });

  it('refuses to read a directory, a symlink and an absent path', async () => {
    const place = newPlace();
    await change(system.edge, place, [mkdir('d'), link('l', 'f')]);
    for (const path of ['d', 'l']) {
      await expect(read(system.edge, place, path)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    for (const path of ['nowhere', 'd/nowhere', 'l/nowhere']) {
      await expect(read(system.edge, place, path)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    }
  });

  it('reads former versions of a file', async () => {
    const place = newPlace();
    await write(system.edge, place, { f: 'one' });
    await write(system.edge, place, { f: 'two' });
    expect(await readText(system.edge, place, 'f', { version: 1 })).toBe('one');
    expect(await readText(system.edge, place, 'f', { version: 2 })).toBe('two');
    for (const version of [0, 3]) {
      await expect(read(system.edge, place, 'f', { version })).rejects.toMatchObject({
        code: 'FILE_NOT_FOUND',
      });
    }
  });

  it('refuses a file above the size limit by its declared and by its actual size', async () => {
    const place = newPlace();
    const before = await stored(system);
    const announced = async function* (): AsyncGenerator<WriteContentsRequest> {
      yield { kind: { $case: 'place', value: { place, lease: undefined } } };
      yield { kind: { $case: 'begin', value: { size: FILE_MAX + 1 } } };
    };
    await expect(send(announced())).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
    const coming = uploadOf(place, [Buffer.alloc(FILE_MAX + 1)]);
    await expect(send(coming)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
    expect(await stored(system)).toEqual(before);
    const [largest] = await upload(system.edge, place, [Buffer.alloc(FILE_MAX)]);
    expect(largest?.size).toBe(FILE_MAX);
  });

  it('refuses an upload larger than the workspace limit', async () => {
    const place = newPlace();
    const announced = async function* (): AsyncGenerator<WriteContentsRequest> {
      yield { kind: { $case: 'place', value: { place, lease: undefined } } };
      for (const letter of 'abcd') {
        yield { kind: { $case: 'begin', value: { size: FILE_MAX } } };
        for (let mib = 0; mib < FILE_MAX / MIB; mib++)
          yield { kind: { $case: 'bytes', value: Buffer.alloc(MIB, letter) } };
      }
    };
    const before = await stored(system);
    await expect(send(announced())).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect((await stored(system)).objects).toHaveLength(before.objects.length + 3);
  });

  it.each([
    [5, 'hell'],
    [5, 'hello!'],
    [2 * MIB, 'x'.repeat(2 * MIB + 1)],
    [2 * MIB, 'x'.repeat(2 * MIB - 1)],
  ])('refuses a content that differs from its declared size of %i bytes', async (size, text) => {
    const place = newPlace();
    const before = await stored(system);
    const messages = async function* (): AsyncGenerator<WriteContentsRequest> {
      yield { kind: { $case: 'place', value: { place, lease: undefined } } };
      yield { kind: { $case: 'begin', value: { size } } };
      for await (const bytes of chunksOf(Buffer.from(text), MIB))
        yield { kind: { $case: 'bytes', value: Buffer.from(bytes) } };
    };
    await expect(send(messages())).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await stored(system)).toEqual(before);
  });

  it('refuses messages in an invalid order', async () => {
    const place = newPlace();
    const head = { kind: { $case: 'place' as const, value: { place, lease: undefined } } };
    const begin = { kind: { $case: 'begin' as const, value: { size: undefined } } };
    const bytes = (size: number) => ({ kind: { $case: 'bytes' as const, value: Buffer.alloc(size) } });
    const senseless: WriteContentsRequest[][] = [
      [],
      [begin],
      [bytes(1)],
      [{ kind: undefined }],
      [head, bytes(1)],
      [head, head],
      [head, begin, head],
      [head, begin, { kind: undefined }],
      [head, begin, bytes(MIB + 1)],
      [head, { kind: { $case: 'begin', value: { size: -1 } } }],
    ];
    for (const messages of senseless) {
      const sent = (async function* () {
        yield* messages;
      })();
      await expect(send(sent)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
  });

  it('stores nothing of an upload that the client aborts', async () => {
    const place = newPlace();
    const before = await stored(system);
    const mistake = new Error('the client has disconnected');
    const messages = async function* (): AsyncGenerator<WriteContentsRequest> {
      yield* uploadOf(place, [patternBytes(5 * MIB, 99)]);
      throw mistake;
    };
    await expect(send(messages())).rejects.toBe(mistake);
    await expect.poll(async () => (await stored(system)).objects.length).toBe(before.objects.length);
  });

  it('stores equal bytes once per owner', async () => {
    const [mine, mineToo] = [newPlace(), newPlace()];
    const theirs = ofSession(system.fakes.session(STRANGER));
    const before = (await stored(system)).objects.length;
    for (const text of ['the same small text', 'x'.repeat(MIB)]) {
      const [one, two, three] = await upload(system.edge, mine, [text, text, text]);
      expect([two, three]).toEqual([one, one]);
      const [again] = await upload(system.edge, mineToo, [text]);
      expect(again).toEqual(one);
      const [other] = await upload(system.edge, theirs, [text], { caller: STRANGER });
      expect(other?.contentId).not.toBe(one?.contentId);
      expect(other?.sha256).toBe(one?.sha256);
    }
    expect((await stored(system)).objects.length).toBe(before + 4);
  });

  it('stores equal bytes once for concurrent uploads', async () => {
    const place = newPlace();
    const before = (await stored(system)).objects.length;
    const text = 'y'.repeat(300 * 1024);
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        upload(system.edge, place, [text, `small and the same ${index % 2}`]),
      ),
    );
    expect(new Set(all.map(([one]) => one?.contentId)).size).toBe(1);
    expect((await stored(system)).objects.length).toBe(before + 3);
  });

  it('refuses a content of another owner and an unknown content', async () => {
    const place = newPlace();
    const theirs = ofSession(system.fakes.session(STRANGER));
    const [content] = await upload(system.edge, theirs, ['a secret'], { caller: STRANGER });
    for (const contentId of [content!.contentId, 'cnt_00000000000000000000000000', '', 'x']) {
      await expect(change(system.edge, place, [put('f', contentId)])).rejects.toMatchObject({
        code: 'FILE_NOT_FOUND',
      });
    }
  });

  it('stops reading when a client cancels', async () => {
    const place = newPlace();
    await write(system.edge, place, { f: patternBytes(20 * MIB) });
    const request = { place, lease: undefined, path: 'f', version: undefined, offset: 0, length: undefined };
    for (let time = 0; time < 10; time++) {
      for await (const { bytes } of system.edge.readContent(request, { caller })) {
        expect(bytes.length).toBeGreaterThan(0);
        break;
      }
    }
    const controller = new AbortController();
    const reading = async () => {
      for await (const _ of system.edge.readContent(request, { caller, signal: controller.signal }))
        controller.abort();
    };
    await expect(reading()).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});

describe('the time limit of an upload', () => {
  it('ends an upload before its first contents can be garbage collected', async () => {
    const clock = createFakeClock();
    await using system = await openFilesSystem('in process', { clock }, { graceSeconds: 7_200 });
    const place = ofSession(system.fakes.session());
    const waiting = Promise.withResolvers<void>();
    const messages = async function* (): AsyncGenerator<WriteContentsRequest> {
      yield* uploadOf(place, [patternBytes(2 * MIB)]);
      waiting.resolve();
      await new Promise(() => {});
    };
    const sending = system.edge.writeContents(messages(), { caller });
    await waiting.promise;
    clock.advance(3_600_000);
    await expect(sending).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await expect.poll(async () => (await stored(system)).objects).toEqual([]);
  });
});

describe('damaged stored bytes', () => {
  let system: FilesSystem;
  const lines: string[] = [];
  beforeAll(async () => {
    const log = createLog({
      level: 'warn',
      destination: { write: (line) => lines.push(line) },
    });
    system = await openFilesSystem('in process', { log });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function objectOf(text: string | Buffer): Promise<string> {
    const { rows } = await stored(system);
    const key = rows.find((row) => row.sha256 === sha256(text))?.object_key ?? '';
    return join(system.directory, 'objects', key.slice(0, 2), key);
  }

  async function flip(path: string, at: number): Promise<void> {
    const handle = await open(path, 'r+');
    const byte = Buffer.alloc(1);
    await handle.read(byte, 0, 1, at);
    byte[0]! ^= 1;
    await handle.write(byte, 0, 1, at);
    await handle.close();
  }

  const damages: [string, (path: string) => Promise<void>][] = [
    ['a bit is another', (path) => flip(path, 2 * MIB + 5)],
    ['the last bit is another', (path) => flip(path, 3 * MIB - 1)],
    ['some are missing at the end', (path) => truncate(path, 3 * MIB - 1)],
    ['a whole block is missing', (path) => truncate(path, 2 * MIB)],
    ['all are missing', (path) => truncate(path, 0)],
    ['the object is missing', (path) => rm(path)],
  ];

  it.each(damages)('are refused with CONTENT_DAMAGED and never returned: %s', async (name, damage) => {
    const place = ofSession(system.fakes.session());
    const bytes = patternBytes(3 * MIB, name.length);
    await write(system.edge, place, { f: bytes });
    await damage(await objectOf(bytes));
    lines.length = 0;
    const damaged = { code: 'CONTENT_DAMAGED' };
    await expect(read(system.edge, place, 'f')).rejects.toMatchObject(damaged);
    await expect(read(system.edge, place, 'f', { offset: 2 * MIB })).rejects.toMatchObject(damaged);
    await expect(read(system.edge, place, 'f', { offset: 2 * MIB, length: 1 })).rejects.toMatchObject(
      damaged,
    );
    const given: Buffer[] = [];
    const request = { place, lease: undefined, path: 'f', version: undefined, offset: 0, length: undefined };
    const reading = async () => {
      for await (const { bytes: piece } of system.edge.readContent(request, { caller }))
        given.push(Buffer.from(piece));
    };
    await expect(reading()).rejects.toMatchObject(damaged);
    const got = Buffer.concat(given);
    expect(got.length).toBeLessThan(bytes.length);
    expect(got.equals(bytes.subarray(0, got.length))).toBe(true);
    expect(lines.some((line) => line.includes('damaged'))).toBe(true);
    expect(await system.context.metrics.text()).toContain('ahs_files_damaged_contents_total');
  });

  it('are replaced by an upload of the same bytes', async () => {
    const place = ofSession(system.fakes.session());
    for (const bytes of [patternBytes(3 * MIB, 77), Buffer.from('a small one')]) {
      await write(system.edge, place, { f: bytes });
      await flip(await objectOf(bytes), 1);
      await expect(read(system.edge, place, 'f')).rejects.toMatchObject({ code: 'CONTENT_DAMAGED' });
      await upload(system.edge, place, [bytes]);
      expect((await read(system.edge, place, 'f')).equals(bytes)).toBe(true);
    }
  });

  it('leave intact ranges readable', async () => {
    const place = ofSession(system.fakes.session());
    const bytes = patternBytes(3 * MIB, 55);
    await write(system.edge, place, { f: bytes });
    await flip(await objectOf(bytes), 2 * MIB);
    const first = await read(system.edge, place, 'f', { offset: 5, length: MIB });
    expect(first.equals(bytes.subarray(5, MIB + 5))).toBe(true);
  });
});

describe('an unavailable object store', () => {
  it('fails uploads without partial writes, and uploads succeed when it is back', async () => {
    let isUnavailable = false;
    const wrap = (blobs: Blobs): Blobs => ({
      ...blobs,
      write: (...args) => (isUnavailable ? failUnavailable() : blobs.write(...args)),
      read: (...args) => (isUnavailable ? failUnavailableStream() : blobs.read(...args)),
    });
    await using system = await openFilesSystem('in process', {}, {}, wrap);
    const place = ofSession(system.fakes.session());
    await write(system.edge, place, { a: 'one' });
    isUnavailable = true;
    const unavailable = { code: 'DEPENDENCY_UNAVAILABLE' };
    await expect(upload(system.edge, place, ['two'])).rejects.toMatchObject(unavailable);
    await expect(upload(system.edge, place, ['x'.repeat(MIB)])).rejects.toMatchObject(unavailable);
    await expect(read(system.edge, place, 'a')).rejects.toMatchObject(unavailable);
    // RPCs that need no bytes still succeed.
    await change(system.edge, place, [mkdir('d')]);
    isUnavailable = false;
    expect(await readText(system.edge, place, 'a')).toBe('one');
    await write(system.edge, place, { b: 'two' });
    expect((await stored(system)).rows).toHaveLength(2);
  });
});

async function failUnavailable(): Promise<never> {
  const { refuse } = await import('../../../lib/errors.ts');
  throw refuse('DEPENDENCY_UNAVAILABLE', 'The object store is unavailable.');
}

async function* failUnavailableStream(): AsyncGenerator<Uint8Array> {
  yield await failUnavailable();
}
