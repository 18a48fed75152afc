import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi, signed, type Webhook } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

const now = () => Math.floor(Date.now() / 1000);

describe('POST /deployments/{deployment_id}/trigger', () => {
  let system: System;
  let api: Api;
  let agent: string;
  let webhook: Webhook;
  beforeAll(async () => {
    system = await startSystem({ SERVICE_WEBHOOK_MAX_BODY_BYTES: String(3 * 1024 * 1024) });
    api = createApi(system.url);
    agent = await api.createAgent();
    webhook = await api.createWebhook(agent);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const inputOf = async (session: unknown): Promise<string> => {
    const { body } = await api.get(`/sessions/${session}/messages`);
    return (body.data[0] as { content: { text: string }[] }).content[0]?.text ?? '';
  };
  const unauthorized = {
    status: 401,
    body: {
      code: 'DEPLOYMENT_UNAUTHORIZED',
      message: 'invalid webhook signature',
      data: null,
      error: {
        code: 'DEPLOYMENT_UNAUTHORIZED',
        status_code: 401,
        category: 'auth',
        retryable: false,
        owner: 'client',
        user_message: 'invalid webhook signature',
      },
    },
  };

  it('starts a new session for each accepted request, also for a repeated one', async () => {
    const headers = signed(webhook.secret, 'same');
    const first = await api.trigger(webhook, 'same', headers);
    const second = await api.trigger(webhook, 'same', headers);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.body.data.session_id).not.toBe(second.body.data.session_id);
    expect(Object.keys(first.body.data).sort()).toEqual(['deployment_id', 'session_id', 'status']);
  });

  const bodies: [string, Buffer, string][] = [
    ['an empty body', Buffer.alloc(0), ''],
    ['JSON, unformatted', Buffer.from('{"a" :1,\r\n "b":[ ]}'), '{"a" :1,\r\n "b":[ ]}'],
    ['plain text', Buffer.from('Grüße, 世界 👋'), 'Grüße, 世界 👋'],
    ['a NUL', Buffer.from('a\0b'), 'a\0b'],
    ['a byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x68, 0x69]), '\ufeffhi'],
    ['invalid UTF-8', Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x62]), 'a\ufffd\ufffd(b'],
    ['an encoded lone surrogate', Buffer.from([0xed, 0xa0, 0x80]), '\ufffd\ufffd\ufffd'],
    ['line breaks and quotes', Buffer.from(',\n"\\\u2028\t'), ',\n"\\\u2028\t'],
    [
      'two mebibytes',
      Buffer.alloc(2 * 1024 * 1024, 'xyz "\n'),
      'xyz "\n'.repeat(349526).slice(0, 2 * 1024 * 1024),
    ],
  ];
  it.each(bodies)('passes %s to the agent exactly as specified', async (_, bytes, text) => {
    const answer = await api.trigger(webhook, new Uint8Array(bytes));
    expect(answer.status).toBe(200);
    expect(await inputOf(answer.body.data.session_id)).toBe(text);
  });

  it('inserts the prefix and one blank line before the body, also before an empty body', async () => {
    const prefixed = await api.createWebhook(agent, { prompt_prefix: 'Look:' });
    const full = await api.trigger(prefixed, 'body');
    const empty = await api.trigger(prefixed, '');
    expect(await inputOf(full.body.data.session_id)).toBe('Look:\n\nbody');
    expect(await inputOf(empty.body.data.session_id)).toBe('Look:\n\n');
  });

  it.each([
    'application/json',
    'application/json; charset=utf-16',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    '\tapplication/json',
    'nonsense',
    ';;;',
  ])('passes the raw bytes for Content-Type %j', async (type) => {
    const body = '{"not json';
    const answer = await api.trigger(webhook, body, {
      ...signed(webhook.secret, body),
      'Content-Type': type,
    });
    expect(answer.status).toBe(200);
    expect(await inputOf(answer.body.data.session_id)).toBe(body);
  });

  it('ignores credentials, idempotency keys, origins and content encodings', async () => {
    const headers = {
      ...signed(webhook.secret, 'zipped?'),
      Authorization: 'Bearer nonsense',
      Cookie: 'a=b',
      Origin: 'https://example.com',
      'Sec-Fetch-Site': 'cross-site',
      'Idempotency-Key': 'k',
      'Content-Encoding': 'gzip',
    };
    const answers = [
      await api.trigger(webhook, 'zipped?', headers),
      await api.trigger(webhook, 'zipped?', headers),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    expect(answers[0]?.body.data.session_id).not.toBe(answers[1]?.body.data.session_id);
  });

  const refusals: [string, (secret: string) => Record<string, string>, string][] = [
    ['no headers', () => ({}), 'missing_timestamp'],
    ['no signature', () => ({ 'X-WEBHOOK-TIMESTAMP': String(now()) }), 'missing_signature'],
    [
      'no timestamp',
      (s) => ({ 'X-WEBHOOK-SIGNATURE': signed(s, 'body')['X-WEBHOOK-SIGNATURE'] }),
      'missing_timestamp',
    ],
    ['a stale timestamp', (s) => signed(s, 'body', String(now() - 310)), 'stale_timestamp'],
    ['a timestamp of the future', (s) => signed(s, 'body', String(now() + 310)), 'stale_timestamp'],
    ['milliseconds', (s) => signed(s, 'body', String(Date.now())), 'stale_timestamp'],
    ['a signed number', (s) => signed(s, 'body', `+${now()}`), 'malformed_timestamp'],
    ['a fraction', (s) => signed(s, 'body', `${now()}.0`), 'malformed_timestamp'],
    ['another secret', () => signed('whsec_other', 'body'), 'bad_signature'],
    ['another body', (s) => signed(s, 'other'), 'bad_signature'],
    ['a hexadecimal signature', (s) => hex(signed(s, 'body')), 'malformed_signature'],
    [
      'base64url',
      (s) => ({ ...signed(s, 'body'), 'X-WEBHOOK-SIGNATURE': `${'_'.repeat(43)}=` }),
      'malformed_signature',
    ],
    ['no padding', (s) => unpadded(signed(s, 'body')), 'malformed_signature'],
  ];
  // Refusals are logged once per second, so the cases wait concurrently.
  it.concurrent.each(refusals)(
    'refuses %s with a uniform message and logs the specific reason',
    async (_, headersFor, reason) => {
      const own = await api.createWebhook(agent);
      expect(await api.trigger(own, 'body', headersFor(own.secret))).toMatchObject(unauthorized);
      const logged = await until('the refusal is logged', async () => {
        const { body } = await api.get(`/admin/agents/${agent}/deployments/${own.id}/invocations`);
        return body.data.length > 0 ? body.data : undefined;
      });
      expect(logged).toMatchObject([{ result: 'refused', reason, size: 4, session_id: null }]);
    },
  );

  it('accepts timestamps within the freshness window', async () => {
    for (const offset of [-290, 290]) {
      const answer = await api.trigger(
        webhook,
        'body',
        signed(webhook.secret, 'body', String(now() + offset)),
      );
      expect(answer.status).toBe(200);
    }
  });

  it('refuses duplicate signature headers', async () => {
    const headers = signed(webhook.secret, 'body');
    const twice = (name: keyof typeof headers) =>
      raw(system.url, webhook.id, [...Object.entries(headers), [name, headers[name]]], 'body');
    expect(await twice('X-WEBHOOK-TIMESTAMP')).toMatch(/^HTTP\/1.1 401 /);
    expect(await twice('X-WEBHOOK-SIGNATURE')).toMatch(/^HTTP\/1.1 401 /);
  });

  it('accepts chunked bodies and requests without Content-Type', async () => {
    const headers = [
      ...Object.entries(signed(webhook.secret, 'chunked')),
      ['Transfer-Encoding', 'chunked'],
    ] as [string, string][];
    const answer = await raw(system.url, webhook.id, headers, '4\r\nchun\r\n3\r\nked\r\n0\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });

  it('checks the existence of the trigger before the size, and the size before the signature', async () => {
    const large = new Uint8Array(3 * 1024 * 1024 + 1);
    const absent = { ...webhook, url: webhook.url.replace(webhook.id, 'dep_7ZZZZZZZZZZZZZZZZZZZZZZZZZ') };
    expect(await api.trigger(absent, large, {})).toMatchObject({
      status: 404,
      body: { code: 'DEPLOYMENT_NOT_FOUND' },
    });
    expect(await api.trigger(webhook, large, {})).toMatchObject({
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE' },
    });
    expect(await api.trigger(webhook, large.slice(1), {})).toMatchObject(unauthorized);
  });

  it('returns 404 for a disabled or deleted trigger, accepts again when enabled, and keeps its sessions', async () => {
    const own = await api.createWebhook(agent);
    const path = `/admin/agents/${agent}/deployments/${own.id}`;
    const accepted = await api.trigger(own, 'one');
    expect((await api.post(`${path}/disable`)).body.data.status).toBe('disabled');
    expect(await api.trigger(own, 'two')).toMatchObject({
      status: 404,
      body: { code: 'DEPLOYMENT_NOT_FOUND' },
    });
    expect((await api.post(`${path}/enable`)).body.data.status).toBe('enabled');
    expect((await api.trigger(own, 'three')).status).toBe(200);
    expect((await api.send('DELETE', path)).body.data).toEqual({ deployment_id: own.id, deleted: true });
    expect((await api.trigger(own, 'four')).status).toBe(404);
    expect((await api.get(`/sessions/${accepted.body.data.session_id}`)).status).toBe(200);
  });

  it('returns 409 when the agent is disabled or deleted', async () => {
    const other = await api.createAgent();
    const own = await api.createWebhook(other);
    await api.send('PATCH', `/agents/${other}`, { enabled: false });
    const cannot = {
      status: 409,
      body: { code: 'DEPLOYMENT_CANNOT_START', error: { owner: 'operator', retryable: false } },
    };
    expect(await api.trigger(own, 'x')).toMatchObject(cannot);
    await api.send('PATCH', `/agents/${other}`, { enabled: true });
    expect((await api.trigger(own, 'x')).status).toBe(200);
    await api.send('DELETE', `/agents/${other}`);
    expect(await api.trigger(own, 'x')).toMatchObject(cannot);
  });

  it('returns the secret once and refuses changes of the trigger', async () => {
    const { body } = await api.post(
      `/admin/agents/${agent}/deployments`,
      { type: 'webhook' },
      { 'Idempotency-Key': 'one-hook' },
    );
    const id = String(body.data.deployment_id);
    const secret = String(body.data.shared_secret);
    const again = await api.post(
      `/admin/agents/${agent}/deployments`,
      { type: 'webhook' },
      { 'Idempotency-Key': 'one-hook' },
    );
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body.data).toMatchObject({ deployment_id: id, shared_secret: null });
    const path = `/admin/agents/${agent}/deployments/${id}`;
    const answers = await Promise.all([
      api.get(path),
      api.get('/admin/deployments'),
      api.post(`${path}/enable`),
    ]);
    expect(JSON.stringify(answers.map((answer) => answer.body))).not.toContain(secret.slice(8));
    expect(await api.send('PATCH', path, { prompt_prefix: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'DEPLOYMENT_IMMUTABLE' },
    });
  });
});

function hex(headers: ReturnType<typeof signed>) {
  return {
    ...headers,
    'X-WEBHOOK-SIGNATURE': Buffer.from(headers['X-WEBHOOK-SIGNATURE'], 'base64').toString('hex'),
  };
}

function unpadded(headers: ReturnType<typeof signed>) {
  return { ...headers, 'X-WEBHOOK-SIGNATURE': headers['X-WEBHOOK-SIGNATURE'].replace(/=+$/, '') };
}

/** Sends a request with exactly these headers, including those that fetch does not permit. */
function raw(origin: string, id: string, headers: [string, string][], payload: string): Promise<string> {
  const { hostname, port, host } = new URL(origin);
  const sized = headers.some(([name]) => name === 'Transfer-Encoding')
    ? []
    : [`Content-Length: ${payload.length}`];
  const lines = [
    `POST /api/v1/deployments/${id}/trigger HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
    ...sized,
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
    socket.write(
      `${[...lines, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n${payload}`,
    );
  });
}
