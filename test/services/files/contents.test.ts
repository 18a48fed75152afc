import { open, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Blobs } from '../../../lib/blobs/blobs.ts';
import { createLog } from '../../../lib/log.ts';
import type { WriteContentsRequest } from '../../../proto/gen/ahs/files/v1/files.ts';
import { inPieces, patterned } from '../../support/blobs.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn } from '../../support/sql.ts';
import {
  change,
  type House,
  link,
  MIB,
  mkdir,
  OWNER,
  ofSession,
  openHouse,
  put,
  read,
  readText,
  STRANGER,
  sha256,
  upload,
  uploadOf,
  write,
} from './house.ts';

const caller = OWNER;
const FILE_MAX = 32 * MIB;
const WORKSPACE_MAX = 3 * FILE_MAX;

/** Objects there are, and contents that name them. */
async function stored(house: House) {
  const objects = (await Array.fromAsync(house.blobs.list())).map(({ key }) => key);
  const rows = await rowsOn<{ object_key: string; content_id: string; sha256: string }>(
    house.database.url,
    'select object_key, content_id, sha256 from files.contents',
  );
  return { objects, rows };
}

describe.each(TRANSPORTS)('WriteContents and ReadContent, %s', (transport) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(transport, {}, { fileMaxBytes: FILE_MAX, workspaceMaxBytes: WORKSPACE_MAX });
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const newPlace = () => ofSession(house.neighbours.session());
  const send = (messages: AsyncIterable<WriteContentsRequest>) =>
    house.edge.writeContents(messages, { caller });

  it('gives back all that was written, small and large, in the order in which it came', async () => {
    const place = newPlace();
    const sizes = [0, 1, 3 * MIB + 7, 256 * 1024, 256 * 1024 + 1, MIB, 5, 2 * MIB, 0];
    const files = sizes.map((size, index) => patterned(size, index + 1));
    const contents = await upload(house.edge, place, files);
    expect(contents.map(({ size, sha256: digest }) => ({ size, digest }))).toEqual(
      files.map((file) => ({ size: file.length, digest: sha256(file) })),
    );
    await change(
      house.edge,
      place,
      contents.map(({ contentId }, index) => put(`f${index}`, contentId)),
    );
    for (const [index, file] of files.entries()) {
      expect((await read(house.edge, place, `f${index}`)).equals(file)).toBe(true);
    }
  });

  it('gives back any part, however it lies to the blocks', async () => {
    const place = newPlace();
    const bytes = patterned(3 * MIB + 100);
    await write(house.edge, place, { f: bytes });
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
      expect((await read(house.edge, place, 'f', { offset, length })).equals(expected)).toBe(true);
    }
  });

  it('refuses parts that there are not', async () => {
    const place = newPlace();
    await write(house.edge, place, { f: 'hello', empty: '' });
    await expect(read(house.edge, place, 'f', { offset: 5 })).rejects.toMatchObject({
      code: 'RANGE_NOT_SATISFIABLE',
    });
    await expect(read(house.edge, place, 'f', { offset: -1 })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    await expect(read(house.edge, place, 'empty', { offset: 1 })).rejects.toMatchObject({
      code: 'RANGE_NOT_SATISFIABLE',
    });
    expect(await readText(house.edge, place, 'empty')).toBe('');
  });

  it('reads nothing of a directory or a symlink, nor of what is not there', async () => {
    const place = newPlace();
    await change(house.edge, place, [mkdir('d'), link('l', 'f')]);
    for (const path of ['d', 'l']) {
      await expect(read(house.edge, place, path)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    for (const path of ['nowhere', 'd/nowhere', 'l/nowhere']) {
      await expect(read(house.edge, place, path)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    }
  });

  it('gives out former versions', async () => {
    const place = newPlace();
    await write(house.edge, place, { f: 'one' });
    await write(house.edge, place, { f: 'two' });
    expect(await readText(house.edge, place, 'f', { version: 1 })).toBe('one');
    expect(await readText(house.edge, place, 'f', { version: 2 })).toBe('two');
    for (const version of [0, 3]) {
      await expect(read(house.edge, place, 'f', { version })).rejects.toMatchObject({
        code: 'FILE_NOT_FOUND',
      });
    }
  });

  it('refuses a file that is too large, when it is announced and when it comes', async () => {
    const place = newPlace();
    const before = await stored(house);
    const announced = async function* (): AsyncGenerator<WriteContentsRequest> {
      yield { kind: { $case: 'place', value: { place, lease: undefined } } };
      yield { kind: { $case: 'begin', value: { size: FILE_MAX + 1 } } };
    };
    await expect(send(announced())).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
    const coming = uploadOf(place, [Buffer.alloc(FILE_MAX + 1)]);
    await expect(send(coming)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
    expect(await stored(house)).toEqual(before);
    const [largest] = await upload(house.edge, place, [Buffer.alloc(FILE_MAX)]);
    expect(largest?.size).toBe(FILE_MAX);
  });

  it('takes no more than a workspace may hold, however many files it is', async () => {
    const place = newPlace();
    const announced = async function* (): AsyncGenerator<WriteContentsRequest> {
      yield { kind: { $case: 'place', value: { place, lease: undefined } } };
      for (const letter of 'abcd') {
        yield { kind: { $case: 'begin', value: { size: FILE_MAX } } };
        for (let mib = 0; mib < FILE_MAX / MIB; mib++)
          yield { kind: { $case: 'bytes', value: Buffer.alloc(MIB, letter) } };
      }
    };
    const before = await stored(house);
    await expect(send(announced())).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect((await stored(house)).objects).toHaveLength(before.objects.length + 3);
  });

  it.each([
    [5, 'hell'],
    [5, 'hello!'],
    [2 * MIB, 'x'.repeat(2 * MIB + 1)],
    [2 * MIB, 'x'.repeat(2 * MIB - 1)],
  ])('refuses a content that has other than the %i bytes that were announced', async (size, text) => {
    const place = newPlace();
    const before = await stored(house);
    const messages = async function* (): AsyncGenerator<WriteContentsRequest> {
      yield { kind: { $case: 'place', value: { place, lease: undefined } } };
      yield { kind: { $case: 'begin', value: { size } } };
      for await (const bytes of inPieces(Buffer.from(text), MIB))
        yield { kind: { $case: 'bytes', value: Buffer.from(bytes) } };
    };
    await expect(send(messages())).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await stored(house)).toEqual(before);
  });

  it('refuses messages that make no sense', async () => {
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

  it('keeps nothing of an upload whose client fails in its middle', async () => {
    const place = newPlace();
    const before = await stored(house);
    const mistake = new Error('the client is gone');
    const messages = async function* (): AsyncGenerator<WriteContentsRequest> {
      yield* uploadOf(place, [patterned(5 * MIB, 99)]);
      throw mistake;
    };
    await expect(send(messages())).rejects.toBe(mistake);
    await expect.poll(async () => (await stored(house)).objects.length).toBe(before.objects.length);
  });

  it('keeps the same bytes once for an owner, and for each owner by itself', async () => {
    const [mine, mineToo] = [newPlace(), newPlace()];
    const theirs = ofSession(house.neighbours.session(STRANGER));
    const before = (await stored(house)).objects.length;
    for (const text of ['the same small text', 'x'.repeat(MIB)]) {
      const [one, two, three] = await upload(house.edge, mine, [text, text, text]);
      expect([two, three]).toEqual([one, one]);
      const [again] = await upload(house.edge, mineToo, [text]);
      expect(again).toEqual(one);
      const [other] = await upload(house.edge, theirs, [text], { caller: STRANGER });
      expect(other?.contentId).not.toBe(one?.contentId);
      expect(other?.sha256).toBe(one?.sha256);
    }
    expect((await stored(house)).objects.length).toBe(before + 4);
  });

  it('keeps the same bytes once when they come from many sides at once', async () => {
    const place = newPlace();
    const before = (await stored(house)).objects.length;
    const text = 'y'.repeat(300 * 1024);
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        upload(house.edge, place, [text, `small and the same ${index % 2}`]),
      ),
    );
    expect(new Set(all.map(([one]) => one?.contentId)).size).toBe(1);
    expect((await stored(house)).objects.length).toBe(before + 3);
  });

  it('takes no content of another owner, nor one that is not there', async () => {
    const place = newPlace();
    const theirs = ofSession(house.neighbours.session(STRANGER));
    const [content] = await upload(house.edge, theirs, ['a secret'], { caller: STRANGER });
    for (const contentId of [content!.contentId, 'cnt_00000000000000000000000000', '', 'x']) {
      await expect(change(house.edge, place, [put('f', contentId)])).rejects.toMatchObject({
        code: 'FILE_NOT_FOUND',
      });
    }
  });

  it('lets readers leave early', async () => {
    const place = newPlace();
    await write(house.edge, place, { f: patterned(20 * MIB) });
    const request = { place, lease: undefined, path: 'f', version: undefined, offset: 0, length: undefined };
    for (let time = 0; time < 10; time++) {
      for await (const { bytes } of house.edge.readContent(request, { caller })) {
        expect(bytes.length).toBeGreaterThan(0);
        break;
      }
    }
    const controller = new AbortController();
    const reading = async () => {
      for await (const _ of house.edge.readContent(request, { caller, signal: controller.signal }))
        controller.abort();
    };
    await expect(reading()).rejects.toMatchObject({ code: 'CANCELLED' });
  });
});

describe('an upload that takes too long', () => {
  it('is ended before what came first is not kept any more', async () => {
    const clock = createFakeClock();
    await using house = await openHouse('in process', { clock }, { graceSeconds: 7_200 });
    const place = ofSession(house.neighbours.session());
    const waiting = Promise.withResolvers<void>();
    const messages = async function* (): AsyncGenerator<WriteContentsRequest> {
      yield* uploadOf(place, [patterned(2 * MIB)]);
      waiting.resolve();
      await new Promise(() => {});
    };
    const sending = house.edge.writeContents(messages(), { caller });
    await waiting.promise;
    clock.advance(3_600_000);
    await expect(sending).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await expect.poll(async () => (await stored(house)).objects).toEqual([]);
  });
});

describe('bytes that are damaged', () => {
  let house: House;
  const lines: string[] = [];
  beforeAll(async () => {
    const log = createLog({
      level: 'warn',
      pretty: false,
      destination: { write: (line) => lines.push(line) },
    });
    house = await openHouse('in process', { log });
  });
  afterAll(() => house[Symbol.asyncDispose]());

  async function objectOf(text: string | Buffer): Promise<string> {
    const { rows } = await stored(house);
    const key = rows.find((row) => row.sha256 === sha256(text))?.object_key ?? '';
    return join(house.directory, 'objects', key.slice(0, 2), key);
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

  it.each(damages)('are never given out: %s', async (name, damage) => {
    const place = ofSession(house.neighbours.session());
    const bytes = patterned(3 * MIB, name.length);
    await write(house.edge, place, { f: bytes });
    await damage(await objectOf(bytes));
    lines.length = 0;
    const damaged = { code: 'CONTENT_DAMAGED' };
    await expect(read(house.edge, place, 'f')).rejects.toMatchObject(damaged);
    await expect(read(house.edge, place, 'f', { offset: 2 * MIB })).rejects.toMatchObject(damaged);
    await expect(read(house.edge, place, 'f', { offset: 2 * MIB, length: 1 })).rejects.toMatchObject(damaged);
    const given: Buffer[] = [];
    const request = { place, lease: undefined, path: 'f', version: undefined, offset: 0, length: undefined };
    const reading = async () => {
      for await (const { bytes: piece } of house.edge.readContent(request, { caller }))
        given.push(Buffer.from(piece));
    };
    await expect(reading()).rejects.toMatchObject(damaged);
    const got = Buffer.concat(given);
    expect(got.length).toBeLessThan(bytes.length);
    expect(got.equals(bytes.subarray(0, got.length))).toBe(true);
    expect(lines.some((line) => line.includes('damaged'))).toBe(true);
    expect(await house.context.metrics.text()).toContain('ahs_files_damaged_contents_total');
  });

  it('are mended by the same bytes', async () => {
    const place = ofSession(house.neighbours.session());
    for (const bytes of [patterned(3 * MIB, 77), Buffer.from('a small one')]) {
      await write(house.edge, place, { f: bytes });
      await flip(await objectOf(bytes), 1);
      await expect(read(house.edge, place, 'f')).rejects.toMatchObject({ code: 'CONTENT_DAMAGED' });
      await upload(house.edge, place, [bytes]);
      expect((await read(house.edge, place, 'f')).equals(bytes)).toBe(true);
    }
  });

  it('do not spoil the parts that are right', async () => {
    const place = ofSession(house.neighbours.session());
    const bytes = patterned(3 * MIB, 55);
    await write(house.edge, place, { f: bytes });
    await flip(await objectOf(bytes), 2 * MIB);
    const first = await read(house.edge, place, 'f', { offset: 5, length: MIB });
    expect(first.equals(bytes.subarray(5, MIB + 5))).toBe(true);
  });
});

describe('a place for bytes that is away', () => {
  it('is said to be, nothing is half-written, and everything goes on when it is back', async () => {
    let isAway = false;
    const wrap = (blobs: Blobs): Blobs => ({
      ...blobs,
      write: (...args) => (isAway ? gone() : blobs.write(...args)),
      read: (...args) => (isAway ? goneStream() : blobs.read(...args)),
    });
    await using house = await openHouse('in process', {}, {}, wrap);
    const place = ofSession(house.neighbours.session());
    await write(house.edge, place, { a: 'one' });
    isAway = true;
    const unavailable = { code: 'DEPENDENCY_UNAVAILABLE' };
    await expect(upload(house.edge, place, ['two'])).rejects.toMatchObject(unavailable);
    await expect(upload(house.edge, place, ['x'.repeat(MIB)])).rejects.toMatchObject(unavailable);
    await expect(read(house.edge, place, 'a')).rejects.toMatchObject(unavailable);
    // What needs no bytes goes on.
    await change(house.edge, place, [mkdir('d')]);
    isAway = false;
    expect(await readText(house.edge, place, 'a')).toBe('one');
    await write(house.edge, place, { b: 'two' });
    expect((await stored(house)).rows).toHaveLength(2);
  });
});

async function gone(): Promise<never> {
  const { refuse } = await import('../../../lib/errors.ts');
  throw refuse('DEPENDENCY_UNAVAILABLE', 'the place where files are kept cannot be reached');
}

async function* goneStream(): AsyncGenerator<Uint8Array> {
  yield await gone();
}
