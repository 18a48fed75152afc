import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../../support/certificates.ts';
import { PUBLIC, problemOf, startRemote } from './remote-server.ts';

const OWN = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));

describe('OutboundClient, addresses', () => {
  it('connects to the address that it has checked and resolves the name once', async () => {
    await using remote = await startRemote({ addresses: [[PUBLIC], ['127.0.0.1']] });
    const response = await remote.client.fetchWith()('https://remote.test/path?q=1');
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
    expect(remote.resolved).toEqual(['remote.test']);
    expect(remote.dialled).toEqual([`${PUBLIC} 443`]);
  });

  it('refuses a name that has a private address when it is resolved again', async () => {
    await using remote = await startRemote({
      addresses: [[PUBLIC], ['10.0.0.1']],
      serve: (_, response) => void response.writeHead(200, { Connection: 'close' }).end('ok'),
    });
    const fetch = remote.client.fetchWith();
    await (await fetch('https://remote.test/')).text();
    expect(await problemOf(fetch('https://remote.test/'))).toBe('address_refused');
    expect(remote.dialled).toHaveLength(1);
  });

  it.each([
    ['a private address', ['10.1.2.3']],
    ['a public and a private address', [PUBLIC, '192.168.0.1']],
    ['a loopback address', ['::1']],
    ['an IPv4-mapped loopback address', ['::ffff:127.0.0.1']],
    ['the address of a metadata server', ['169.254.169.254']],
    ['a NAT64 form of a private address', ['64:ff9b::a00:1']],
    ['a 6to4 form of a private address', ['2002:a00:1::']],
    ['a unique local address', ['fd00::1']],
    ['a shared address', ['100.64.0.1']],
    ['a multicast address', ['224.0.0.1']],
    ['the unspecified address', ['0.0.0.0']],
    ['an address of this machine', [OWN.find((address) => !address.includes(':')) ?? '127.0.0.1']],
    ['text that is no address', ['0x7f.1']],
  ])('refuses a name that has %s, without a connection', async (_, addresses) => {
    await using remote = await startRemote({ addresses: [addresses] });
    expect(await problemOf(remote.client.fetchWith()('https://remote.test/'))).toBe('address_refused');
    expect(remote.dialled).toEqual([]);
  });

  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '127.0.0.1.',
    '①②⑦.0.0.1',
    '169.254.169.254',
    '[fe80::1]',
  ])('refuses the address %s in a URL, without a connection', async (host) => {
    await using remote = await startRemote();
    expect(await problemOf(remote.client.fetchWith()(`https://${host}/`))).toBe('address_refused');
    expect([remote.resolved, remote.dialled]).toEqual([[], []]);
  });

  it.each([
    ['a user name and a password', 'https://user:secret-word@remote.test/'],
    ['a user name that looks like a host', 'https://remote.test@10.0.0.1/'],
    ['another protocol', 'ftp://remote.test/'],
    ['a file', 'file:///etc/passwd'],
    ['data', 'data:text/plain,x'],
    ['no protocol', 'remote.test/secret-word'],
    ['an empty label', 'https://remote..test/'],
    ['two dots at the end', 'https://remote.test../'],
    ['http:', 'http://remote.test/'],
    ['a port of another protocol', 'https://remote.test:25/'],
  ])('refuses a URL with %s', async (_, url) => {
    await using remote = await startRemote();
    const error = await remote.client
      .fetchWith()(url)
      .catch((caught) => caught);
    expect(error).toMatchObject({ problem: 'url_refused' });
    expect(String(error)).not.toContain('secret-word');
    expect(remote.dialled).toEqual([]);
  });

  it.each([
    ['a trailing dot', 'https://remote.test./', 'remote.test', 443],
    ['capital letters', 'https://REMOTE.test/', 'remote.test', 443],
    ['a port', 'https://remote.test:8443/', 'remote.test', 8443],
    ['an international name', 'https://bücher.test/', 'xn--bcher-kva.test', 443],
  ])('accepts a URL with %s', async (_, url, host, port) => {
    let seen: string | undefined;
    await using remote = await startRemote({
      serve: (incoming, response) => {
        seen = incoming.headers.host;
        response.end();
      },
    });
    await remote.client.fetchWith()(url);
    expect(remote.resolved).toEqual([host]);
    expect(remote.dialled).toEqual([`${PUBLIC} ${port}`]);
    expect(seen).toBe(port === 443 ? host : `${host}:${port}`);
  });

  it('tries the next address when the first refuses the connection', async () => {
    await using remote = await startRemote({ addresses: [['93.184.216.1', PUBLIC]] });
    const { dial } = remote.dialer;
    remote.dialer.dial = (address, port) =>
      address === PUBLIC ? dial(address, port) : dial(address, port).destroy(new Error('refused'));
    expect(await (await remote.client.fetchWith()('https://remote.test/')).text()).toBe('ok');
    expect(remote.dialled).toEqual(['93.184.216.1 443', `${PUBLIC} 443`]);
  });

  it('reports a name without an address as unreachable', async () => {
    await using remote = await startRemote({ addresses: [[]] });
    expect(await problemOf(remote.client.fetchWith()('https://remote.test/'))).toBe('unreachable');
  });

  it.each([
    ['of another host', createAuthority('remote servers').issue({ names: ['other.test'] })],
    ['of an unknown authority', createAuthority('unknown').issue({ names: ['remote.test'] })],
  ])('reports a certificate %s', async (_, certificate) => {
    await using remote = await startRemote({ certificate });
    expect(await problemOf(remote.client.fetchWith()('https://remote.test/'))).toBe('tls_invalid');
  });

  it('ignores proxies of the environment', async () => {
    await using remote = await startRemote();
    const before = { ...process.env };
    Object.assign(process.env, { HTTPS_PROXY: 'http://127.0.0.1:9', NODE_USE_ENV_PROXY: '1' });
    try {
      expect((await remote.client.fetchWith()('https://remote.test/')).status).toBe(200);
    } finally {
      process.env = before;
    }
  });
});

describe('OutboundClient, private hosts', () => {
  it.each([
    ['a listed name over http:', 'mcp.test:8080', ['10.0.0.1'], 'http://mcp.test:8080/', 200],
    ['a listed loopback address', '127.0.0.1:8080', [], 'http://127.0.0.1:8080/', 200],
    ['a listed loopback address in another notation', '127.0.0.1', [], 'http://127.1/', 200],
    ['a listed IPv6 address', '[::1]', [], 'http://[::1]/', 200],
    ['another port of a listed host', 'mcp.test:8080', ['10.0.0.1'], 'http://mcp.test:8081/', 'url_refused'],
    ['another port without a listed one', 'mcp.test', ['10.0.0.1'], 'http://mcp.test:8080/', 'url_refused'],
    ['a subdomain of a listed host', 'mcp.test', ['10.0.0.1'], 'http://a.mcp.test/', 'url_refused'],
    [
      'a listed name with a public address over http:',
      'mcp.test',
      [PUBLIC],
      'http://mcp.test/',
      'address_refused',
    ],
    [
      'a listed name with the address of a metadata server',
      'mcp.test',
      ['169.254.169.254'],
      'http://mcp.test/',
      'address_refused',
    ],
  ])('%s', async (_, privateHosts, addresses, url, expected) => {
    await using remote = await startRemote({ privateHosts, addresses: [addresses], isEncrypted: false });
    const outcome = await problemOf(
      remote.client
        .fetchWith()(url)
        .then(({ status }) => status),
    );
    expect(outcome).toBe(expected);
  });

  it('reaches a listed host with a private address over https:', async () => {
    await using remote = await startRemote({ privateHosts: 'remote.test', addresses: [['10.0.0.1']] });
    expect((await remote.client.fetchWith()('https://remote.test/')).status).toBe(200);
  });
});
