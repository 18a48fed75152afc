import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { drained, openRaw, parseResponse } from '../../support/raw-http.ts';
import { until } from '../../support/wait.ts';
import { expectRefusal, expectSuccess, readResponse } from '../envelope.ts';
import { CHUNK_BYTES, sha256 } from './fake-files.ts';
import { type FileFixture, openFileFixture, SESSION } from './fixture.ts';
import { field, file, formBody } from './form-body.ts';

const MIB = 1024 * 1024;

describe('POST /uploads and GET /sessions/{session_id}/parts/{sha256} with the files service over gRPC', () => {
  let fixture: FileFixture;
  /** Measures the waits of the edge for clients. */
  const clock = createFakeClock();
  beforeAll(async () => {
    fixture = await openFileFixture('gRPC', { SERVICE_REQUEST_TIMEOUT_SECONDS: '1' }, clock);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const create = async (query: string, body: RequestInit['body'], headers: Record<string, string> = {}) => {
    const init = { method: 'POST', body, headers, duplex: 'half' } as RequestInit;
    return readResponse(await fetch(`${fixture.url}/api/v1/uploads${query}`, init));
  };

  it('returns the upload with its digest and its expiry', async () => {
    const bytes = randomBytes(3 * MIB);
    const response = await create('?media_type=image%2Fpng&name=a%20picture.png', new Uint8Array(bytes));
    expect(response.status, response.text).toBe(201);
    expect(expectSuccess(response).data).toEqual({
      upload_id: expect.stringMatching(/^upl_/),
      size: bytes.length,
      sha256: sha256(bytes),
      media_type: 'image/png',
      expires_at: expect.stringMatching(/^20\d\d-.*Z$/),
    });
    expect(fixture.files.uploads.at(-1)).toMatchObject({ name: 'a picture.png', size: bytes.length });
  });

  it.each([
    ['?name=notes.md', 'text/markdown'],
    ['?name=unknown', 'application/octet-stream'],
    ['?media_type=&name=', 'application/octet-stream'],
    ['', 'application/octet-stream'],
  ])('derives the media type of %j', async (query, type) => {
    expect(expectSuccess(await create(query, 'x', { 'Content-Type': 'text/html' })).data).toMatchObject({
      media_type: type,
    });
  });

  it('accepts a body of unknown length and passes the key on', async () => {
    const streamed = new Blob(['a stream']).stream();
    expectSuccess(await create('', streamed, { 'Idempotency-Key': 'key-1' }));
    expect(fixture.files.uploads.at(-1)).toMatchObject({ size: undefined, idempotencyKey: 'key-1' });
  });

  it('refuses forms, encoded bodies and malformed requests', async () => {
    const { body, headers } = formBody([field('path', ''), file('a', 'x')]);
    expectRefusal(await create('', body, headers), 'UNSUPPORTED_MEDIA_TYPE');
    expectRefusal(await create('', 'x', { 'Content-Encoding': 'gzip' }), 'UNSUPPORTED_MEDIA_TYPE');
    expectRefusal(await create('?mode=1', 'x'), 'INVALID_REQUEST');
    expectRefusal(await create('?name=%ff', 'x'), 'INVALID_REQUEST');
    expectRefusal(await create('?name=a%00', 'x'), 'INVALID_TEXT');
    expectRefusal(await create(`?name=${'n'.repeat(300)}`, 'x'), 'INVALID_REQUEST');
    expectRefusal(await create('', 'x', { 'Idempotency-Key': 'a b' }), 'INVALID_REQUEST');
  });

  it('times out an upload of which too little arrives', async () => {
    const connection = openRaw(fixture.url);
    let text = '';
    connection.socket.on('data', (chunk) => {
      text += chunk;
    });
    const { host } = new URL(fixture.url);
    connection.send(`POST /api/v1/uploads HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100000\r\n\r\nbegin`);
    await until('the upload has begun', () => fixture.files.writing() === 1);
    clock.advance(1_000);
    await until('the upload is refused', () => text.includes('request_id'));
    connection.socket.end();
    expectRefusal(parseResponse(await connection.rest()), 'REQUEST_TIMEOUT');
    await until('the call to the service has ended', () => fixture.files.writing() === 0);
  });

  it('reads the body no faster than the service accepts it', async () => {
    const gate = Promise.withResolvers<void>();
    fixture.files.faults.pause = gate.promise;
    const connection = openRaw(fixture.url);
    const { host } = new URL(fixture.url);
    connection.send(
      `POST /api/v1/uploads HTTP/1.1
Host: ${host}
Content-Length: ${64 * MIB}

`,
    );
    const piece = randomBytes(MIB);
    let sent = 0;
    let isFull = false;
    while (sent < 64 && !isFull) {
      sent++;
      isFull = !connection.socket.write(piece) && !(await drained(connection.socket));
    }
    // The capacity of the sockets and of the transport to the service.
    expect(isFull).toBe(true);
    expect(sent).toBeLessThan(40);
    connection.socket.destroy();
    gate.resolve();
    fixture.files.faults.pause = undefined;
    await until('the call to the service has ended', () => fixture.files.writing() === 0);
  });

  const getPart = (digest: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${fixture.url}/api/v1/sessions/${SESSION}/parts/${digest}`, { method, headers });

  it('returns a part as an attachment, in ranges and by its ETag', async () => {
    const bytes = randomBytes(3 * CHUNK_BYTES + 1);
    const digest = fixture.files.addPart(bytes, 'image/png', 'a "picture".png');
    const whole = await getPart(digest);
    expect(whole.status).toBe(200);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-length': String(bytes.length),
      'content-type': 'image/png',
      'content-disposition': `attachment; filename="a _picture_.png"; filename*=UTF-8''a%20%22picture%22.png`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      etag: `"${digest}"`,
    });
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    const range = await getPart(digest, { Range: 'bytes=5-14' });
    expect([range.status, range.headers.get('content-range')]).toEqual([206, `bytes 5-14/${bytes.length}`]);
    expect(Buffer.from(await range.arrayBuffer()).equals(bytes.subarray(5, 15))).toBe(true);
    const known = await getPart(digest, { 'If-None-Match': `"${digest}"` });
    expect([known.status, await known.text()]).toEqual([304, '']);
    const head = await getPart(digest, {}, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
    expectRefusal(
      await readResponse(await getPart(digest, { Range: `bytes=${bytes.length}-` })),
      'RANGE_NOT_SATISFIABLE',
    );
    expectRefusal(await readResponse(await getPart(digest, { 'If-Match': '"other"' })), 'VERSION_CONFLICT');
    await until('no call to the service is open', () => fixture.files.reading() === 0);
  });

  it('returns an empty part and names a part without a name by its digest', async () => {
    const digest = fixture.files.addPart(Buffer.alloc(0), 'text/plain', '');
    const response = await getPart(digest);
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${digest}"`);
  });

  it('returns 404 for an unknown part and an unknown session', async () => {
    expectRefusal(await readResponse(await getPart('0'.repeat(64))), 'PART_NOT_FOUND');
    expectRefusal(await readResponse(await getPart('none')), 'PART_NOT_FOUND');
    const elsewhere = `${fixture.url}/api/v1/sessions/ses_none/parts/${'0'.repeat(64)}`;
    expectRefusal(await readResponse(await fetch(elsewhere)), 'SESSION_NOT_FOUND');
  });
});
