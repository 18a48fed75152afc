import { describe, expect, it } from 'vitest';
import { PUBLIC, problemOf, startRemote } from './remote-server.ts';

interface SeenRequest {
  method: string | undefined;
  url: string | undefined;
  authorization: string | undefined;
  body: string;
}

/** Starts a server that answers /start with a redirect to `location`. */
async function startRedirecting(location: string, { status = 307, addresses = [[PUBLIC]] } = {}) {
  const seen: SeenRequest[] = [];
  const remote = await startRemote({
    addresses,
    async serve(incoming, response) {
      let body = '';
      for await (const chunk of incoming) body += chunk;
      const { method, url, headers } = incoming;
      seen.push({ method, url, authorization: headers.authorization, body });
      const isRedirect = url === '/start';
      response.writeHead(isRedirect ? status : 200, isRedirect ? { Location: location } : {});
      response.end('body');
    },
  });
  return Object.assign(remote, { seen });
}

const headers = { Authorization: 'Bearer secret-word' };

describe('OutboundClient, redirects', () => {
  it.each([
    ['the same origin', '/next'],
    ['another host', 'https://other.test/'],
    ['a private address', 'https://10.0.0.1/'],
    ['http:', 'http://remote.test/'],
  ])('refuses a redirect to %s by default', async (_, location) => {
    await using remote = await startRedirecting(location);
    const fetch = remote.client.fetchWith();
    expect(await problemOf(fetch('https://remote.test/start', { headers }))).toBe('redirect_refused');
    expect(remote.seen).toHaveLength(1);
    expect(remote.clock.pending).toBe(0);
  });

  it.each([
    ['another host', 'https://other.test/next'],
    ['another port', 'https://remote.test:8443/next'],
    ['http:', 'http://remote.test/next'],
    ['a private address', 'https://10.0.0.1/next'],
    ['a loopback address', 'https://127.0.0.1/next'],
    ['a host without scheme', '//other.test/next'],
    ['a URL with a password', 'https://user:secret-word@remote.test/next'],
    ['no valid URL', 'https://[/'],
    ['itself', '/start'],
  ])('refuses a redirect to %s when redirects within the origin are allowed', async (_, location) => {
    await using remote = await startRedirecting(location);
    const fetch = remote.client.fetchWith({ redirects: 'same-origin' });
    const error = await fetch('https://remote.test/start', { headers }).catch((caught) => caught);
    expect(['redirect_refused', 'url_refused']).toContain(error.problem);
    expect(String(error)).not.toContain('secret-word');
    expect(new Set(remote.resolved)).toEqual(new Set(['remote.test']));
    expect(new Set(remote.dialled)).toEqual(new Set([`${PUBLIC} 443`]));
  });

  it('checks the address of each hop', async () => {
    await using remote = await startRedirecting('/next', { addresses: [[PUBLIC], ['10.0.0.1']] });
    const fetch = remote.client.fetchWith({ redirects: 'same-origin' });
    expect(await problemOf(fetch('https://remote.test/start', { headers }))).toBe('address_refused');
    expect(remote.dialled).toEqual([`${PUBLIC} 443`]);
  });

  it.each([
    [307, 'POST', 'POST', 'sent'],
    [308, 'POST', 'POST', 'sent'],
    [303, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [301, 'GET', 'GET', ''],
  ])('follows status %d of %s with %s within the origin', async (status, method, next, body) => {
    await using remote = await startRedirecting('/next', { status });
    const fetch = remote.client.fetchWith({ redirects: 'same-origin' });
    const init = { method, headers, ...(method === 'POST' ? { body: 'sent' } : {}) };
    const response = await fetch('https://remote.test/start', init);
    expect([response.status, await response.text()]).toEqual([200, 'body']);
    const { authorization } = { authorization: headers.Authorization };
    expect(remote.seen[1]).toEqual({ method: next, url: '/next', authorization, body });
  });

  it('returns the redirect itself when the caller asks for it', async () => {
    await using remote = await startRedirecting('https://other.test/');
    const response = await remote.client.fetchWith()('https://remote.test/start', { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([307, 'https://other.test/']);
    await response.body?.cancel();
  });

  it('sends a Request with its method, headers and body', async () => {
    await using remote = await startRedirecting('/never');
    const request = new Request('https://remote.test/post', { method: 'POST', headers, body: 'sent' });
    expect((await remote.client.fetchWith()(request)).status).toBe(200);
    const { Authorization: authorization } = headers;
    expect(remote.seen).toEqual([{ method: 'POST', url: '/post', authorization, body: 'sent' }]);
  });
});
