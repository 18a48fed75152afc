import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { drained, exchange, openRaw, parseResponse } from '../../support/raw-http.ts';
import { advanceUntil, until } from '../../support/wait.ts';
import { expectRefusal, expectSuccess, readResponse } from '../envelope.ts';
import { sha256 } from './fake-files.ts';
import { ASSISTANT, type FileFixture, openFileFixture, SESSION } from './fixture.ts';
import { type FormPart, field, file, formBody } from './form-body.ts';

/** A request whose body does not arrive. */
const INCOMPLETE =
  'POST /api/v1/agents HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{';

interface UploadResult {
  entries: { path: string; size: number; sha256: string; media_type: string; kind: string }[];
  workspace_version: number;
}

// Over gRPC, because its messages and its flow control are the harder case.
describe('POST …/files and PUT …/files/content with the files service over gRPC', () => {
  let fixture: FileFixture;
  /** Measures the waits of the edge for clients. */
  const clock = createFakeClock();
  beforeAll(async () => {
    fixture = await openFileFixture('gRPC', { SERVICE_REQUEST_TIMEOUT_SECONDS: '1' }, clock);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const urlOf = (query = '', place = `sessions/${SESSION}`) => `${fixture.url}/api/v1/${place}/files${query}`;
  type Body = RequestInit['body'];
  const request = async (method: string, url: string, body: Body, headers: Record<string, string> = {}) =>
    readResponse(await fetch(url, { method, body, headers, duplex: 'half' } as RequestInit));
  const post = (query: string, body: Body, headers?: Record<string, string>) =>
    request('POST', urlOf(query), body, headers);
  const put = (query: string, body: Body, headers?: Record<string, string>) =>
    request('PUT', urlOf(`/content${query}`), body, headers);
  const send = async (parts: FormPart[]) => {
    const { body, headers } = formBody(parts);
    return post('', body, headers);
  };
  const uploaded = (response: Awaited<ReturnType<typeof readResponse>>): UploadResult => {
    expect(response.status, response.text).toBe(201);
    return expectSuccess<UploadResult>(response).data;
  };
  const written = (response: Awaited<ReturnType<typeof readResponse>>) => {
    expect(response.status, response.text).toBe(201);
    return expectSuccess<{ entry: UploadResult['entries'][number] }>(response).data.entry;
  };
  /** The head of a request whose body is sent later, or never. */
  const head = (lines: string[], query = '?path=slow.bin') =>
    `${[
      `PUT /api/v1/sessions/${SESSION}/files/content${query} HTTP/1.1`,
      `Host: ${new URL(fixture.url).host}`,
      ...lines,
    ].join('\r\n')}\r\n\r\n`;

  it('writes a raw body to the path of the query for every media type', async () => {
    const bytes = randomBytes(1_000_000);
    for (const type of ['application/octet-stream', 'text/x-odd; a=b', 'application/json', '']) {
      const response = await put('?path=a/b/data.json', bytes, { 'Content-Type': type });
      expect(written(response)).toMatchObject({
        path: 'a/b/data.json',
        name: 'data.json',
        kind: 'file',
        size: bytes.length,
        sha256: sha256(bytes),
        media_type: 'application/json',
      });
    }
  });

  it('writes the files of a form to their names below its path', async () => {
    const big = randomBytes(700_000);
    const response = await send([
      field('path', 'docs'),
      file('a.txt', 'alpha'),
      file('deep/er/b.bin', big),
      file('empty', ''),
    ]);
    const { entries, workspace_version: version } = uploaded(response);
    expect(entries.map(({ path, size }) => [path, size])).toEqual([
      ['docs/a.txt', 5],
      ['docs/deep/er/b.bin', big.length],
      ['docs/empty', 0],
    ]);
    expect(entries[1]?.sha256).toBe(sha256(big));
    expect(version).toBeGreaterThan(0);
    expect(uploaded(await send([field('path', ''), file('top', 'x')])).entries[0]?.path).toBe('top');
  });

  it('writes the files of a form without path to the workspace root', async () => {
    const written = uploaded(await send([file('root.txt', 'one'), file('docs/two.txt', 'two')]));
    expect(written.entries.map(({ path }) => path)).toEqual(['root.txt', 'docs/two.txt']);
  });

  it('accepts the FormData of fetch', async () => {
    const form = new FormData();
    form.append('path', 'from/fetch');
    form.append('files', new Blob(['one']), 'a "quoted" name.txt');
    form.append('files', new Blob(['two']), 'ärger 👋.txt');
    const response = await readResponse(
      await fetch(urlOf('', `assistants/${ASSISTANT}`), { method: 'POST', body: form }),
    );
    expect(uploaded(response).entries.map(({ path }) => path)).toEqual([
      'from/fetch/a "quoted" name.txt',
      'from/fetch/ärger 👋.txt',
    ]);
  });

  it.each([
    ['as UTF-8', 'filename="ärger 👋.txt"', 'ärger 👋.txt'],
    ['extended', `filename="x.txt"; filename*=UTF-8''%C3%A4rger%20%F0%9F%91%8B.txt`, 'ärger 👋.txt'],
    ['with quotes as browsers write them', 'filename="a%22b.txt"', 'a"b.txt'],
    ['with quotes as old clients write them', 'filename="a\\"b\\\\c.txt"', 'a"b\\c.txt'],
    ['with a percent sign', 'filename="100%25.txt"', '100%25.txt'],
    ['without quotes', 'filename=plain.txt', 'plain.txt'],
    ['of Windows', 'filename="C:\\dir\\x.txt"', 'C:\\dir\\x.txt'],
    ['with a semicolon', 'filename="a;b=c.txt"', 'a;b=c.txt'],
    ['in two forms of Unicode', 'filename="e\u0301.txt"', 'e\u0301.txt'],
    ['after an odd order', 'filename="z.txt" ', 'z.txt'],
  ])('reads a file name %s', async (_, parameter, name) => {
    const part = { head: `Content-Disposition: form-data; name="files"; ${parameter}`, content: 'x' };
    expect(uploaded(await send([field('path', 'n'), part])).entries[0]?.path).toBe(`n/${name}`);
  });

  const disposition = (text: string, content = 'x'): FormPart => ({
    head: `Content-Disposition: ${text}`,
    content,
  });
  it.each<[string, FormPart[], string]>([
    ['no parts', [], '/files'],
    ['a path and no file', [field('path', 'a')], '/files'],
    ['the path after the files', [file('a', 'x'), field('path', '')], '/path'],
    ['the path again', [field('path', ''), file('a', 'x'), field('path', 'b')], '/path'],
    ['a path that is a file', [file('path', 'docs', 'path'), file('a', 'x')], '/path'],
    ['a path that is too long', [field('path', 'p'.repeat(1025)), file('a', 'x')], '/path'],
    ['a path that is not UTF-8', [{ ...field('path', ''), content: Buffer.from([0xff]) }], '/path'],
    ['a path above the workspace', [field('path', '../up'), file('a', 'x')], '/path'],
    ['another field', [field('path', ''), field('mode', '1')], ''],
    ['a file in another field', [field('path', ''), file('a', 'x', 'file')], ''],
    ['a file without a name', [field('path', ''), disposition('form-data; name="files"')], '/files/0'],
    ['a file with an empty name', [field('path', ''), file('', 'x')], '/files/0'],
    ['a name above the directory', [field('path', 'd'), file('../../etc/passwd', 'x')], '/files/0'],
    ['an absolute name', [field('path', 'd'), file('/etc/passwd', 'x')], '/files/0'],
    ['a name with NUL', [field('path', ''), file('a\0b', 'x')], '/files/0'],
    ['a name with a line break', [field('path', ''), file('a%0Ab', 'x')], '/files/0'],
    ['a reserved name', [field('path', ''), file('.ahs-x/a', 'x')], '/files/0'],
    ['a name that is too long', [field('path', ''), file('n'.repeat(256), 'x')], '/files/0'],
    [
      'names that are too long together',
      [field('path', 'p'.repeat(200)), file(`${`${'n'.repeat(99)}/`.repeat(9)}x`, '')],
      '/files/0',
    ],
    ['two files of one path', [field('path', ''), file('a', 'x'), file('a', 'y')], '/files/1'],
    [
      'a part without a disposition',
      [field('path', ''), { head: 'Content-Type: text/plain', content: 'x' }],
      '',
    ],
    ['a part without a head', [field('path', ''), { head: 'no colon', content: 'x' }], ''],
    ['another disposition', [field('path', ''), disposition('attachment; name="files"; filename="a"')], ''],
    [
      'a name that is no UTF-8',
      [
        field('path', ''),
        { head: 'Content-Disposition: form-data; name="files"; filename*=latin1\'\'%E4', content: 'x' },
      ],
      '',
    ],
    [
      'a disposition that ends in the middle',
      [field('path', ''), disposition('form-data; name="files"; filename="a')],
      '',
    ],
    [
      'two file names',
      [field('path', ''), disposition('form-data; name="files"; filename="a"; filename="b"')],
      '',
    ],
    [
      'an encoding that hides the content',
      [
        field('path', ''),
        { head: `${file('a', '').head}\r\nContent-Transfer-Encoding: base64`, content: 'eA==' },
      ],
      '',
    ],
  ])('returns 400 for a form with %s and writes nothing', async (_, parts, pointer) => {
    const before = fixture.files.versions();
    const [first] = expectRefusal(await send(parts), 'INVALID_REQUEST');
    expect(first?.pointer ?? '').toBe(pointer);
    expect(fixture.files.versions()).toBe(before);
  });

  it('returns 400 for a form that is incomplete or has another boundary', async () => {
    const completeForm = formBody([field('path', ''), file('a', randomBytes(100_000)), file('b', 'x')]);
    const before = fixture.files.versions();
    for (const cut of [0, 10, 60, 130, 50_000, completeForm.body.length - 4, completeForm.body.length - 40])
      expectRefusal(
        await post('', completeForm.body.subarray(0, cut), completeForm.headers),
        'INVALID_REQUEST',
      );
    const other = { 'Content-Type': 'multipart/form-data; boundary=other' };
    expectRefusal(await post('', completeForm.body, other), 'INVALID_REQUEST');
    expect(fixture.files.versions()).toBe(before);
  });

  it('ignores data before the first and after the last boundary', async () => {
    const { body, headers } = formBody([field('path', ''), file('a', 'x')]);
    const dressed = Buffer.concat([
      Buffer.from('preamble\r\n'),
      body,
      Buffer.from('epilogue'.repeat(50_000)),
    ]);
    expect(uploaded(await post('', dressed, headers)).entries).toHaveLength(1);
  });

  it.each([
    ['a form without a boundary', '', { 'Content-Type': 'multipart/form-data' }],
    ['a boundary that cannot be one', '', { 'Content-Type': 'multipart/form-data; boundary="a\u00e4"' }],
    ['a compressed body', '?path=a', { 'Content-Encoding': 'gzip' }],
  ])('returns UNSUPPORTED_MEDIA_TYPE for %s', async (_, query, headers) => {
    expectRefusal(await post(query, 'x', headers), 'UNSUPPORTED_MEDIA_TYPE');
  });

  it.each([
    ['..', 'a/../b', './a', 'a/.', 'a//b', 'a/', '/etc/passwd', '//a'],
    ['a\0b', 'a\nb', 'a\u007f', '.ahs-x', 'a/.ahs-trash', ''],
    ['n'.repeat(256), `${'n'.repeat(250)}/`.repeat(5), 'ä'.repeat(128)],
  ])('returns 400 for the path %j and similar ones', async (...paths) => {
    for (const path of paths) {
      const response = await put(`?path=${encodeURIComponent(path)}`, 'x');
      const code = path.includes('\0') ? 'INVALID_TEXT' : 'INVALID_REQUEST';
      expect(expectRefusal(response, code)[0]?.pointer, path).toBe('/path');
    }
    expectRefusal(await put('?path=%2e%2e%2fx', 'x'), 'INVALID_REQUEST');
    expectRefusal(await put('?path=%ff', 'x'), 'INVALID_REQUEST');
  });

  it('accepts unusual valid paths unchanged', async () => {
    for (const path of [
      '...',
      'a b',
      'C:\\x',
      'e\u0301',
      'é',
      '%2e%2e',
      '-rf',
      '~',
      'con',
      '?',
      '#',
      'a&b=c',
      'n'.repeat(255),
    ]) {
      const response = await put(`?path=${encodeURIComponent(path)}`, 'x');
      expect(written(response).path).toBe(path);
    }
  });

  it('returns 400 for a raw body without a path or with two', async () => {
    expectRefusal(await put('', 'x'), 'INVALID_REQUEST');
    expectRefusal(await put('?path=a&path=b', 'x'), 'INVALID_REQUEST');
    expectRefusal(await put('?path=a&mode=1', 'x'), 'INVALID_REQUEST');
    const { body, headers } = formBody([field('path', ''), file('a', 'x')]);
    expectRefusal(await post('?path=a', body, headers), 'INVALID_REQUEST');
    expectRefusal(await put('?path=a', 'x', { 'Idempotency-Key': 'a b' }), 'INVALID_REQUEST');
  });

  it('returns 415 that names the other route for a form to PUT and for a raw body to POST', async () => {
    const { body, headers } = formBody([field('path', ''), file('a', 'x')]);
    const before = fixture.files.versions();
    const form = await put('?path=a', body, headers);
    expectRefusal(form, 'UNSUPPORTED_MEDIA_TYPE');
    expect(form.text).toContain('POST /sessions/{session_id}/files');
    for (const type of ['application/octet-stream', 'application/json', 'multipart/mixed; boundary=a', '']) {
      const raw = await post('?path=a', 'x', { 'Content-Type': type });
      expectRefusal(raw, 'UNSUPPORTED_MEDIA_TYPE');
      expect(raw.text).toContain('PUT /sessions/{session_id}/files/content?path=');
    }
    expect(fixture.files.versions()).toBe(before);
  });

  it('writes a file of the maximum length and nothing of a file that is one byte longer', async () => {
    const longest = randomBytes(3 * 1024 * 1024);
    const longer = Buffer.concat([longest, Buffer.from('x')]);
    expect(written(await put('?path=max', longest)).size).toBe(longest.length);
    const before = fixture.files.versions();
    expectRefusal(await put('?path=max', longer), 'FILE_TOO_LARGE');
    const streamed = new Blob([longer]).stream();
    expectRefusal(await put('?path=max', streamed), 'FILE_TOO_LARGE');
    expectRefusal(await send([field('path', ''), file('small', 'x'), file('max', longer)]), 'FILE_TOO_LARGE');
    expect(fixture.files.versions()).toBe(before);
    expect(
      uploaded(await send([field('path', ''), file('a', longest), file('b', longest)])).entries,
    ).toHaveLength(2);
  });

  it('writes an empty file for a request without a body', async () => {
    const connection = ['Connection: close'];
    const response = await exchange(fixture.url, head(connection, '?path=nothing'));
    expect(written(response)).toMatchObject({ size: 0 });
  });

  it('writes ten thousand small files in one request', async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `d${index % 100}/f${index}`);
    const { entries } = uploaded(
      await send([field('path', 'many'), ...names.map((name) => file(name, name))]),
    );
    expect(entries.map(({ path }) => path)).toEqual(names.map((name) => `many/${name}`));
    expect(entries.every(({ size, path }) => size === path.length - 5)).toBe(true);
  });

  it('returns the error for an unknown workspace before it reads the body', async () => {
    const nowhere = `${fixture.url}/api/v1/sessions/ses_${'7'.repeat(26)}/files/content?path=a`;
    expectRefusal(await request('PUT', nowhere, 'x'), 'SESSION_NOT_FOUND');
    const unknownAssistant = `${fixture.url}/api/v1/assistants/ast_x/files/content?path=a`;
    expectRefusal(await request('PUT', unknownAssistant, 'x'), 'ASSISTANT_NOT_FOUND');
  });

  it('sends 100 Continue unless the request is refused', async () => {
    const expecting = ['Expect: 100-continue', 'Content-Length: 3', 'Connection: close'];
    const connection = openRaw(fixture.url);
    let text = '';
    connection.socket.on('data', (chunk) => {
      text += chunk;
    });
    connection.send(head(expecting));
    await until('100 Continue arrives', () => text.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
    connection.send('abc');
    expect((await connection.rest()).split('\r\n\r\n')[1]).toContain('HTTP/1.1 201 Created');
    const moving = head(expecting).replace('PUT', 'POST').replace('/content?path=slow.bin', '/move');
    const other = await exchange(fixture.url, moving);
    expect(other.text).toContain('HTTP/1.1 415 ');
    const refused = await exchange(fixture.url, head(expecting, '?path=..'));
    expectRefusal(refused, 'INVALID_REQUEST');
  });

  it('returns NOT_IMPLEMENTED for a compressed Transfer-Encoding', async () => {
    const sent = `${head(['Transfer-Encoding: gzip, chunked'])}3\r\nabc\r\n0\r\n\r\n`;
    expectRefusal(await exchange(fixture.url, sent), 'NOT_IMPLEMENTED');
  });

  it('allows an upload to exceed the request timeout, but not the next request on its connection', async () => {
    const connection = openRaw(fixture.url);
    connection.send(head(['Transfer-Encoding: chunked']));
    const chunk = `30000\r\n${'x'.repeat(0x30000)}\r\n`;
    for (let round = 0; round < 4; round++) {
      const received = fixture.files.received();
      connection.send(chunk);
      await until('a part of the chunk is received', () => fixture.files.received() > received);
      clock.advance(900);
    }
    // HTTP requests time out in real time. The upload has begun before a request that times out.
    const incomplete = await exchange(fixture.url, INCOMPLETE);
    expectRefusal(incomplete, 'REQUEST_TIMEOUT');
    connection.send('0\r\n\r\n');
    connection.send(INCOMPLETE);
    const text = await connection.rest();
    expect(text).toContain('201 Created');
    expect(text).toContain('REQUEST_TIMEOUT');
  });

  it.each([
    ['nothing', ''],
    ['too little to get anywhere', 'x'],
  ])('times out an upload of which %s arrives', async (_, drop) => {
    const connection = openRaw(fixture.url);
    let text = '';
    connection.socket.on('data', (chunk) => {
      text += chunk;
    });
    connection.send(`${head(['Content-Length: 100000'])}begin`);
    await until('the upload has begun', () => fixture.files.writing() === 1);
    const pass = () => {
      if (drop) connection.send(drop);
      clock.advance(100);
    };
    await advanceUntil('the upload is refused', pass, () => text.includes('request_id'));
    connection.socket.end();
    expectRefusal(parseResponse(await connection.rest()), 'REQUEST_TIMEOUT');
    await until('the call to the service has ended', () => fixture.files.writing() === 0);
  });

  it('writes nothing when the client disconnects during the upload', async () => {
    const before = fixture.files.versions();
    const received = fixture.files.received();
    const connection = openRaw(fixture.url);
    connection.send(head(['Transfer-Encoding: chunked']));
    connection.send(`100000\r\n${'x'.repeat(0x90000)}`);
    await until('a part of the upload is received', () => fixture.files.received() > received + 500_000);
    connection.socket.destroy();
    await until('the call to the service has ended', () => fixture.files.writing() === 0);
    expect(fixture.files.versions()).toBe(before);
  });

  it('delivers an early error to a client that keeps sending', async () => {
    const longer = head(['Content-Length: 50000000']);
    for (const text of [longer, head(['Content-Length: 50000000'], '?path=..')]) {
      const connection = openRaw(fixture.url);
      connection.send(text);
      const block = randomBytes(1_000_000);
      for (let i = 0; i < 50; i++) {
        if (connection.socket.destroyed) break;
        if (!connection.socket.write(block)) await drainedOrClosed(connection.socket);
      }
      const answer = parseResponse(await connection.rest());
      expectRefusal(answer, text === longer ? 'FILE_TOO_LARGE' : 'INVALID_REQUEST');
      expect(answer.headers.get('connection')).toBe('close');
    }
  });

  it('reads the body no faster than the service accepts it', async () => {
    const gate = Promise.withResolvers<void>();
    fixture.files.faults.pause = gate.promise;
    const connection = openRaw(fixture.url);
    connection.send(head(['Transfer-Encoding: chunked']));
    let sent = 0;
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    let isFull = false;
    for (let i = 0; i < 100 && !isFull; i++) {
      sent += chunk.length;
      isFull = !connection.socket.write(chunk) && !(await drained(connection.socket));
    }
    // The capacity of the sockets and of the transport to the service.
    expect(isFull).toBe(true);
    expect(sent).toBeLessThan(40_000_000);
    connection.socket.destroy();
    gate.resolve();
    await until('the call to the service has ended', () => fixture.files.writing() === 0);
  });

  it('returns INTERNAL when the service stored another number of bytes', async () => {
    fixture.files.faults.missingBytes = 1;
    const before = fixture.files.versions();
    expectRefusal(await put('?path=a', 'xyz'), 'INTERNAL');
    fixture.files.faults.missingBytes = 0;
    expect(fixture.files.versions()).toBe(before);
  });
});

/** Resolves when a socket becomes writable again or is closed: a closed socket never drains. */
function drainedOrClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}
