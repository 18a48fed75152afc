import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi, signed, type Webhook } from '../support/api.ts';
import { exchange } from '../support/raw-http.ts';
import { type System, startSystem } from '../support/system.ts';

const US = '127.0.0.1';

describe('the client address of POST /deployments/{deployment_id}/trigger', () => {
  let system: System;
  let api: Api;
  let webhook: Webhook;
  let log: string;

  /** The source address of the latest entry in the log of invocations. */
  async function logged(headers: Record<string, string>): Promise<unknown> {
    const { body } = await api.trigger(webhook, '{}', { ...signed(webhook.secret, '{}'), ...headers });
    expect(body.code).toBe('OK');
    const session = body.data.session_id;
    const { body: latest } = await api.get(log);
    expect(latest.data[0]).toMatchObject({ session_id: session });
    return (latest.data[0] as { source_address: unknown }).source_address;
  }

  const from = (...entries: string[]) => logged({ 'x-forwarded-for': entries.join(', ') });

  async function open(settings: Record<string, string>) {
    system = await startSystem(settings);
    api = createApi(system.url);
    const agent = await api.createAgent();
    webhook = await api.createWebhook(agent);
    log = `/admin/agents/${agent}/deployments/${webhook.id}/invocations?limit=1`;
  }

  describe('without trusted proxies', () => {
    beforeAll(() => open({}));
    afterAll(() => system[Symbol.asyncDispose]());

    it('is the address of the connection for every X-Forwarded-For', async () => {
      expect(await from('203.0.113.7')).toBe(US);
      const others = { forwarded: 'for=203.0.113.7', 'x-real-ip': '203.0.113.7' };
      expect(await logged(others)).toBe(US);
    });
  });

  describe('behind trusted proxies', () => {
    beforeAll(() => open({ SERVICE_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8,fd00:5::/64' }));
    afterAll(() => system[Symbol.asyncDispose]());

    it.each([
      ['the address that the proxy appended', ['203.0.113.7'], '203.0.113.7'],
      [
        'the last of several addresses, because the client can write the first ones',
        ['198.51.100.1', '203.0.113.7'],
        '203.0.113.7',
      ],
      [
        'the address before those of trusted proxies',
        ['198.51.100.1', '203.0.113.7', 'fd00:5::1', '10.1.2.3'],
        '203.0.113.7',
      ],
      ['a proxy that forwards its own request', ['10.1.2.3'], '10.1.2.3'],
      ['an IPv6 address in canonical form', ['2001:DB8:0:0::0001'], '2001:db8::1'],
      ['an IPv4 address for an IPv4-mapped one', ['::ffff:203.0.113.7'], '203.0.113.7'],
      ['an address whose port is removed', ['203.0.113.7:4711'], '203.0.113.7'],
      ['an IPv6 address whose brackets and port are removed', ['[2001:db8::1]:4711'], '2001:db8::1'],
      ['an address whose spaces are removed', ['  203.0.113.7\t'], '203.0.113.7'],
    ])('is %s', async (_, entries, source) => {
      expect(await from(...entries)).toBe(source);
    });

    it.each([
      ['nothing', ''],
      ['a comma', ','],
      ['commas alone', ',,,,,,'],
      ['a name', 'localhost'],
      ['unknown', 'unknown'],
      ['a number', '3405803783'],
      ['octal', '0313.0.0161.07'],
      ['a short form', '127.1'],
      ['too much', '203.0.113.7.1'],
      ['more than a byte', '203.0.113.777'],
      ['a zone', 'fe80::1%eth0'],
      ['a zone in brackets', '[fe80::1%25eth0]:80'],
      ['two addresses', '203.0.113.7 198.51.100.1'],
      ['a network', '203.0.113.0/24'],
      ['SQL', "'; drop table invocations; --"],
      ['markup', '<script>alert(1)</script>'],
      ['an open bracket', '[2001:db8::1'],
      ['an overlong text', `203.0.113.7${'0'.repeat(4_000)}`],
    ])('is the address of the proxy that appended %s', async (_, entry) => {
      expect(await logged({ 'x-forwarded-for': `198.51.100.1, ${entry}` })).toBe(US);
    });

    it('is the last trusted proxy before a malformed entry', async () => {
      expect(await from('203.0.113.7', 'garbage', '10.1.2.3')).toBe('10.1.2.3');
    });

    it('evaluates at most 32 entries', async () => {
      expect(await from('203.0.113.7', ...Array<string>(1_000).fill('10.1.2.3'))).toBe('10.1.2.3');
      expect(await logged({ 'x-forwarded-for': ','.repeat(8_000) })).toBe(US);
    });

    it('joins repeated X-Forwarded-For headers', async () => {
      const { host } = new URL(system.url);
      const lines = [
        `POST /api/v1/deployments/${webhook.id}/trigger HTTP/1.1`,
        `Host: ${host}`,
        'X-Forwarded-For: 198.51.100.1',
        'X-Forwarded-For: 203.0.113.7',
        'Content-Length: 2',
        'Connection: close',
        ...Object.entries(signed(webhook.secret, '{}')).map(([name, value]) => `${name}: ${value}`),
      ];
      const { status } = await exchange(system.url, `${lines.join('\r\n')}\r\n\r\n{}`);
      expect(status).toBe(200);
      const { body } = await api.get(log);
      expect(body.data[0]).toMatchObject({ source_address: '203.0.113.7' });
    });

    it('returns a response for any value of X-Forwarded-For', async () => {
      const line = fc
        .string({ unit: 'binary-ascii', maxLength: 200 })
        .map((text) => text.replace(/[\r\n\0]/g, ''));
      const pieces = fc.constantFrom(
        '10.0.0.1',
        '1.2.3.4',
        '::1',
        '[',
        ']',
        ':',
        '%',
        ',',
        ' ',
        '::ffff:',
        '0x',
        '/',
      );
      const shape = fc.oneof(
        line,
        fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join('')),
      );
      const { host } = new URL(system.url);
      await fc.assert(
        fc.asyncProperty(shape, async (header) => {
          const request = `GET /api/v1/agents HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: ${header}\r\nConnection: close\r\n\r\n`;
          const { status } = await exchange(system.url, request);
          // A character that is invalid in a header is refused by the parser.
          expect([200, 400]).toContain(status);
        }),
        { numRuns: 100 },
      );
    });
  });
});
