import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi, signed, type Webhook } from '../support/api.ts';
import { exchange } from '../support/raw.ts';
import { type System, startSystem } from '../support/system.ts';

const US = '127.0.0.1';

describe('POST /deployments/{deployment_id}/trigger', () => {
  let system: System;
  let api: Api;
  let webhook: Webhook;
  let log: string;

  /** Where the log of invocations says that the latest one came from. */
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

  describe('where no proxy is trusted', () => {
    beforeAll(() => open({}));
    afterAll(() => system[Symbol.asyncDispose]());

    it('comes from whoever has connected, whatever it says', async () => {
      expect(await from('203.0.113.7')).toBe(US);
      const others = { forwarded: 'for=203.0.113.7', 'x-real-ip': '203.0.113.7' };
      expect(await logged(others)).toBe(US);
    });
  });

  describe('behind trusted proxies', () => {
    beforeAll(() => open({ SERVICE_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8,fd00:5::/64' }));
    afterAll(() => system[Symbol.asyncDispose]());

    it.each([
      ['the address that the proxy has seen', ['203.0.113.7'], '203.0.113.7'],
      [
        'of several the last one, as the client writes the first',
        ['198.51.100.1', '203.0.113.7'],
        '203.0.113.7',
      ],
      [
        'the address before those of further proxies',
        ['198.51.100.1', '203.0.113.7', 'fd00:5::1', '10.1.2.3'],
        '203.0.113.7',
      ],
      ['a proxy, where nobody stands behind it', ['10.1.2.3'], '10.1.2.3'],
      ['an address of IPv6, in the way that everybody writes it', ['2001:DB8:0:0::0001'], '2001:db8::1'],
      ['IPv4 in IPv6 as what it is', ['::ffff:203.0.113.7'], '203.0.113.7'],
      ['an address with a port, as some proxies write it', ['203.0.113.7:4711'], '203.0.113.7'],
      ['the same in brackets', ['[2001:db8::1]:4711'], '2001:db8::1'],
      ['what is left of spaces', ['  203.0.113.7\t'], '203.0.113.7'],
    ])('comes from %s', async (_, entries, source) => {
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
      ['no end', `203.0.113.7${'0'.repeat(4_000)}`],
    ])('comes from the proxy that says %s', async (_, said) => {
      expect(await logged({ 'x-forwarded-for': `198.51.100.1, ${said}` })).toBe(US);
    });

    it('comes from the last proxy whose word was good', async () => {
      expect(await from('203.0.113.7', 'garbage', '10.1.2.3')).toBe('10.1.2.3');
    });

    it('does not follow chains that nobody has', async () => {
      expect(await from('203.0.113.7', ...Array<string>(1_000).fill('10.1.2.3'))).toBe('10.1.2.3');
      expect(await logged({ 'x-forwarded-for': ','.repeat(8_000) })).toBe(US);
    });

    it('reads a header that comes in several lines as one', async () => {
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

    it('is answered whatever the header holds', async () => {
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
        fc.asyncProperty(shape, async (said) => {
          const request = `GET /api/v1/agents HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: ${said}\r\nConnection: close\r\n\r\n`;
          const { status } = await exchange(system.url, request);
          // A character that no header may hold is refused by the protocol.
          expect([200, 400]).toContain(status);
        }),
        { numRuns: 100 },
      );
    });
  });
});
