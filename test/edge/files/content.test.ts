import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_ANSWER_BYTES } from '../../../edge/routes/files/content.ts';
import { TRANSPORTS, type TransportName } from '../../support/context.ts';
import { exchange, openRaw } from '../../support/raw.ts';
import { until } from '../../support/wait.ts';
import { expectHeaders, expectRefusal, see } from '../envelope.ts';
import { ASSISTANT, openStage, SESSION, type Stage } from './stage.ts';
import { PIECE, sha256 } from './workspace.ts';

const BYTES = randomBytes(1_000_000);
const ETAG = `"${sha256(BYTES)}"`;

describe.each(TRANSPORTS)('GET …/files/content, from the service %s', (transport: TransportName) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(transport, { SERVICE_STREAM_STALL_SECONDS: '1' });
    await upload('data.bin', BYTES);
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const base = () => `${stage.url}/api/v1/sessions/${SESSION}/files`;
  const urlOf = (path: string) => `${base()}/content?path=${encodeURIComponent(path)}`;
  async function upload(path: string, bytes: Buffer | string): Promise<void> {
    const body = typeof bytes === 'string' ? bytes : new Uint8Array(bytes);
    const { status } = await fetch(`${base()}?path=${encodeURIComponent(path)}`, { method: 'POST', body });
    expect(status).toBe(201);
  }
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(urlOf(path), { headers, method });
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

  it('gives the bytes, with their length, their digest and what to do with them', async () => {
    const response = await get('data.bin');
    expect(response.status).toBe(200);
    expectHeaders({ status: 200, headers: response.headers, text: '' });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-length': String(BYTES.length),
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="data.bin"',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      etag: ETAG,
    });
    expect(await bytesOf(response)).toEqual(BYTES);
  });

  it('gives an empty file', async () => {
    await upload('empty.txt', '');
    const headers: Record<string, string>[] = [{}, { Range: 'bytes=0-' }, { Range: 'bytes=-5' }];
    for (const one of headers) {
      const response = await get('empty.txt', one);
      expect([response.status, response.headers.get('content-length')]).toEqual([200, '0']);
      expect(await bytesOf(response)).toHaveLength(0);
    }
  });

  it.each([
    ['the first bytes', 'bytes=0-99', 0, 99],
    ['a single one', 'bytes=7-7', 7, 7],
    ['some in the middle', 'bytes=99999-400000', 99_999, 400_000],
    ['all from somewhere', 'bytes=999000-', 999_000, 999_999],
    ['the last ones', 'bytes=-10', 999_990, 999_999],
    ['more than there are', 'bytes=999990-5000000', 999_990, 999_999],
    ['more of the last than there are', 'bytes=-5000000', 0, 999_999],
    ['all of it', 'bytes=0-', 0, 999_999],
    ['a number beyond counting', `bytes=5-${'9'.repeat(30)}`, 5, 999_999],
  ])('gives %s', async (_, range, first, last) => {
    const response = await get('data.bin', { Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${first}-${last}/${BYTES.length}`);
    expect(response.headers.get('content-length')).toBe(String(last - first + 1));
    expect(response.headers.get('etag')).toBe(ETAG);
    expect((await bytesOf(response)).equals(BYTES.subarray(first, last + 1))).toBe(true);
  });

  it.each([
    'bytes=0-1,5-6',
    'bytes=5-1',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=1.5-2',
    'items=0-1',
    '0-1',
  ])('answers the range %s with the whole', async (range) => {
    const response = await get('data.bin', { Range: range });
    expect(response.status).toBe(200);
    expect((await bytesOf(response)).length).toBe(BYTES.length);
  });

  it.each(['bytes=1000000-', 'bytes=1000000-1000001', `bytes=${'9'.repeat(30)}-`, 'bytes=-0'])(
    'refuses the range %s, and says how long the file is',
    async (range) => {
      const seen = await see(await get('data.bin', { Range: range }));
      expectRefusal(seen, 'RANGE_NOT_SATISFIABLE');
      expect(seen.headers.get('content-range')).toBe(`bytes */${BYTES.length}`);
      expect(seen.headers.get('content-disposition')).toBe(null);
    },
  );

  it('gives a range only of the content that If-Range names', async () => {
    const statusOf = async (onlyIf: string) =>
      (await get('data.bin', { Range: 'bytes=0-1', 'If-Range': onlyIf })).status;
    expect(await statusOf(ETAG)).toBe(206);
    for (const other of [`"${'0'.repeat(64)}"`, `W/${ETAG}`, 'Wed, 21 Oct 2015 07:28:00 GMT', 'x'])
      expect(await statusOf(other), other).toBe(200);
  });

  it('does not send again what the client has', async () => {
    for (const known of [ETAG, `W/${ETAG}`, `"a", W/"b",${ETAG}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const response = await get('data.bin', { 'If-None-Match': known, Range: 'bytes=0-1' }, method);
        expect([response.status, response.headers.get('etag'), await response.text()]).toEqual([
          304,
          ETAG,
          '',
        ]);
        expect(response.headers.get('content-type')).toBe(null);
      }
    }
    for (const other of ['"a"', 'a', sha256(BYTES), '""', '"a" "b"'])
      expect((await get('data.bin', { 'If-None-Match': other })).status, other).toBe(200);
  });

  it('gives nothing else than what If-Match names', async () => {
    for (const match of [ETAG, '*', `"a", ${ETAG}`])
      expect((await get('data.bin', { 'If-Match': match })).status).toBe(200);
    for (const match of ['"a"', `W/${ETAG}`])
      expectRefusal(await see(await get('data.bin', { 'If-Match': match })), 'VERSION_CONFLICT');
  });

  it.each([
    ['plain name (1).txt', 'attachment; filename="plain name (1).txt"', 'text/plain'],
    ['dir/x.html', 'attachment; filename="x.html"', 'text/html'],
    ['ärger.json', `attachment; filename="_rger.json"; filename*=UTF-8''%C3%A4rger.json`, 'application/json'],
    [
      "👋 '*.png",
      `attachment; filename="__ '*.png"; filename*=UTF-8''%F0%9F%91%8B%20%27%2A.png`,
      'image/png',
    ],
    ['a"b\\c%.js', `attachment; filename="a_b_c_.js"; filename*=UTF-8''a%22b%5Cc%25.js`, 'text/javascript'],
    ['mp4', 'attachment; filename="mp4"', 'application/octet-stream'],
    ['x.svg', 'attachment; filename="x.svg"', 'image/svg+xml'],
  ])('is saved as %s', async (path, disposition, type) => {
    await upload(path, 'x');
    const { headers } = await get(path);
    expect(headers.get('content-disposition')).toBe(disposition);
    expect(headers.get('content-type')).toBe(type);
  });

  it('HEAD says all of that, of a file of any length', async () => {
    const response = await get('data.bin', { Range: 'bytes=0-1' }, 'HEAD');
    expect([response.status, response.headers.get('content-length'), response.headers.get('etag')]).toEqual([
      200,
      String(BYTES.length),
      ETAG,
    ]);
    stage.files.pretend('long.bin', MAX_ANSWER_BYTES + 1);
    const long = await get('long.bin', {}, 'HEAD');
    expect([long.status, long.headers.get('content-length')]).toEqual([200, String(MAX_ANSWER_BYTES + 1)]);
  });

  it('gives at most 64 MiB at once', async () => {
    stage.files.pretend('just.bin', MAX_ANSWER_BYTES);
    expect((await bytesOf(await get('just.bin'))).length).toBe(MAX_ANSWER_BYTES);
    stage.files.pretend('long.bin', MAX_ANSWER_BYTES + 1);
    expectRefusal(await see(await get('long.bin')), 'FILE_TOO_LARGE');
    expectRefusal(await see(await get('long.bin', { Range: 'bytes=0-' })), 'FILE_TOO_LARGE');
    const part = await get('long.bin', { Range: 'bytes=1-' });
    expect([part.status, (await bytesOf(part)).length]).toEqual([206, MAX_ANSWER_BYTES]);
  });

  it('refuses what is no file, and what cannot be a path', async () => {
    stage.files.pretend('folder', 0, 'directory');
    stage.files.pretend('link', 0, 'symlink');
    for (const path of ['folder', 'link', '', '..', '/etc/passwd', '.ahs-x'])
      expect(expectRefusal(await see(await get(path)), 'INVALID_REQUEST')[0]?.pointer).toBe('/path');
    expectRefusal(await see(await get('nowhere')), 'FILE_NOT_FOUND');
    expectRefusal(await see(await get('a\0')), 'INVALID_TEXT');
    for (const query of ['', '?path=a&path=b', '?path=%ff', '?path=a&x=1'])
      expectRefusal(await see(await fetch(`${base()}/content${query}`)), 'INVALID_REQUEST');
  });

  it('says with a status what goes wrong before the first byte, and cuts what goes wrong after it', async () => {
    stage.files.faults.breakAfter = 0;
    const seen = await see(await get('data.bin'));
    expectRefusal(seen, 'CONTENT_DAMAGED');
    expect([seen.headers.get('etag'), seen.headers.get('content-disposition')]).toEqual([null, null]);
    stage.files.faults.breakAfter = 5 * PIECE;
    const head = `GET ${new URL(urlOf('data.bin')).pathname}?path=data.bin HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const answer = await exchange(stage.url, head);
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(BYTES.length)]);
    expect(answer.text.length).toBeLessThan(BYTES.length);
    await expect(get('data.bin').then(bytesOf)).rejects.toThrow();
    stage.files.faults.breakAfter = undefined;
  });

  it('a reader who stalls is cut off, and the service is left', async () => {
    stage.files.pretend('just.bin', MAX_ANSWER_BYTES);
    const connection = openRaw(stage.url);
    connection.socket.pause();
    connection.send(`GET ${new URL(urlOf('x')).pathname}?path=just.bin HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until('it is read', () => stage.files.reading() === 1);
    await until('it is left', () => stage.files.reading() === 0, 10_000);
    connection.socket.resume();
    expect((await connection.rest()).length).toBeLessThan(MAX_ANSWER_BYTES);
  });

  it('a reader who leaves is left', async () => {
    stage.files.pretend('just.bin', MAX_ANSWER_BYTES);
    const leaving = new AbortController();
    const response = await fetch(urlOf('just.bin'), { signal: leaving.signal });
    await until('it is read', () => stage.files.reading() === 1);
    leaving.abort();
    await response.body?.cancel().catch(() => {});
    await until('it is left', () => stage.files.reading() === 0);
  });

  it('an archive comes as a tar file, or not at all', async () => {
    const other = base().replace(`sessions/${SESSION}`, `assistants/${ASSISTANT}`);
    const body = new Uint8Array(BYTES);
    await fetch(`${other}?path=data.bin`, { method: 'POST', body });
    const response = await fetch(`${other}/archive?path=docs`);
    expect(response.status).toBe(200);
    expectHeaders({ status: 200, headers: response.headers, text: '' });
    expect(response.headers.get('content-type')).toBe('application/x-tar');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="docs.tar"');
    expect((await bytesOf(response)).length).toBeGreaterThanOrEqual(BYTES.length);
    const whole = await fetch(`${other}/archive`, { method: 'HEAD' });
    expect([whole.status, whole.headers.get('content-disposition')]).toEqual([
      200,
      `attachment; filename="${ASSISTANT}.tar"`,
    ]);
    stage.files.faults.breakAfter = 0;
    expectRefusal(await see(await fetch(`${other}/archive`)), 'CONTENT_DAMAGED');
    stage.files.faults.breakAfter = PIECE;
    await expect(fetch(`${other}/archive`).then(bytesOf)).rejects.toThrow();
    stage.files.faults.breakAfter = undefined;
    expectRefusal(await see(await fetch(`${other}/archive?path=..`)), 'INVALID_REQUEST');
  });
});
