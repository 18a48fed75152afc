import { extract } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import { patternBytes } from '../../support/blob-conformance.ts';
import { TRANSPORTS } from '../../support/context.ts';
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
  sha256,
  upload,
  write,
} from './system.ts';

const caller = OWNER;

interface Unpacked {
  type: string;
  text: string;
  size: number;
  mode: number;
}

async function unpack(archive: Buffer): Promise<Record<string, Unpacked>> {
  const found: Record<string, Unpacked> = {};
  const reader = extract();
  reader.end(archive);
  for await (const entry of reader) {
    const { name, type, linkname, mode, mtime } = entry.header;
    const bytes = Buffer.concat((await Array.fromAsync(entry)) as Buffer[]);
    const text = type === 'symlink' ? linkname : bytes.length > 1_000 ? sha256(bytes) : String(bytes);
    expect(Date.now() - Number(mtime), `the time of ${name}`).toBeLessThan(600_000);
    found[name] = { type, text, size: bytes.length, mode };
  }
  return found;
}

describe.each(TRANSPORTS)('ReadArchive, %s', (transport) => {
  let system: FilesSystem;
  beforeAll(async () => {
    system = await openFilesSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const newPlace = () => ofSession(system.fakes.session());

  async function pack(place: Place, path: string, maxBytes = 64 * MIB): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for await (const { bytes } of system.edge.readArchive({ place, path, maxBytes }, { caller })) {
      expect(bytes.length).toBeLessThanOrEqual(MIB);
      pieces.push(bytes);
    }
    return Buffer.concat(pieces);
  }

  it('packs a whole workspace', async () => {
    const place = newPlace();
    const big = patternBytes(2 * MIB + 3);
    const [one, large] = await upload(system.edge, place, ['one', big]);
    await change(system.edge, place, [
      put('run.sh', one!.contentId, { executable: true }),
      put('d/big', large!.contentId),
      mkdir('d/empty'),
      link('l', '../../etc/passwd'),
    ]);
    expect(await unpack(await pack(place, ''))).toEqual({
      'run.sh': { type: 'file', text: 'one', size: 3, mode: 0o755 },
      'd/': { type: 'directory', text: '', size: 0, mode: 0o755 },
      'd/big': { type: 'file', text: sha256(big), size: big.length, mode: 0o644 },
      'd/empty/': { type: 'directory', text: '', size: 0, mode: 0o755 },
      l: { type: 'symlink', text: '../../etc/passwd', size: 0, mode: 0o644 },
    });
  });

  it('packs a directory below its own name', async () => {
    const place = newPlace();
    await write(system.edge, place, { 'a/b/c': 'one', 'a/b/d/e': 'two', 'a/x': 'not this' });
    expect(Object.keys(await unpack(await pack(place, 'a/b')))).toEqual(['b/', 'b/c', 'b/d/', 'b/d/e']);
  });

  it('packs long and non-ASCII names', async () => {
    const place = newPlace();
    const names = [
      'ümlaut',
      'e\u0301',
      '😀',
      'x'.repeat(255),
      `${'d'.repeat(99)}/f`,
      `${'d'.repeat(150)}/${'f'.repeat(150)}`,
      Array.from({ length: 4 }, () => 'y'.repeat(250)).join('/'),
      ...[97, 98, 99, 100, 101].map((length) => 'z'.repeat(length)),
    ];
    await write(system.edge, place, Object.fromEntries(names.map((name) => [name, name])));
    await change(system.edge, place, [link('long-link', 't'.repeat(3_000)), link('ünicode-link', 'zïel')]);
    const unpacked = await unpack(await pack(place, ''));
    for (const name of names) expect(unpacked[name]?.size, name).toBe(Buffer.byteLength(name));
    expect(unpacked['long-link']?.text).toBe('t'.repeat(3_000));
    expect(unpacked['ünicode-link']?.text).toBe('zïel');
  });

  it('has exactly the computed size and is refused before its first byte when it is too large', async () => {
    const place = newPlace();
    const long = Array.from({ length: 4 }, () => 'ÿ'.repeat(120)).join('/');
    await write(system.edge, place, {
      a: 'x'.repeat(511),
      b: 'x'.repeat(512),
      c: 'x'.repeat(513),
      empty: '',
      [long]: 'y',
    });
    await change(system.edge, place, [link('l', 't'.repeat(101)), link('m', 'short')]);
    const { length } = await pack(place, '');
    expect((await pack(place, '', length)).length).toBe(length);
    await expect(pack(place, '', length - 1)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
  });

  it('packs an empty workspace and refuses a path that is not a directory', async () => {
    const place = newPlace();
    expect(await unpack(await pack(place, ''))).toEqual({});
    await write(system.edge, place, { f: 'one' });
    for (const path of ['f', 'nowhere']) {
      await expect(pack(place, path)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
    }
    await expect(pack(place, '../x')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('packs many files', async () => {
    const place = newPlace();
    const texts = Object.fromEntries(
      Array.from({ length: 2_500 }, (_, index) => [`d${index % 10}/f${index}`, `${index}`]),
    );
    await write(system.edge, place, texts);
    const unpacked = await unpack(await pack(place, ''));
    for (const [path, text] of Object.entries(texts)) expect(unpacked[path]?.text).toBe(text);
  });

  it('stops reading when the client cancels', async () => {
    const place = newPlace();
    await write(system.edge, place, { a: patternBytes(5 * MIB), b: patternBytes(5 * MIB, 2) });
    for (let time = 0; time < 5; time++) {
      for await (const _ of system.edge.readArchive({ place, path: '', maxBytes: 64 * MIB }, { caller }))
        break;
    }
  });
});
