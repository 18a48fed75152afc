import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rowsOn } from '../../support/sql.ts';
import { type Browser, parseResponse } from './browser.ts';
import { startTeam, type Team } from './team.ts';

/** A stream ends within this time. The exact time is tested with a fake clock in credential-monitor.test.ts. */
describe('open requests whose credential becomes invalid', () => {
  let team: Team;
  let alice: Browser;
  let bob: Browser;
  let carol: Browser;
  let session: string;
  beforeAll(async () => {
    team = await startTeam();
    alice = await team.logIn('alice');
  });
  afterAll(() => team[Symbol.asyncDispose]());
  beforeEach(async () => {
    [bob, carol] = await Promise.all([team.logIn('bob'), team.logIn('carol')]);
    session = await createSession(bob);
  });

  const follow = (headers: Record<string, string>, path = `sessions/${session}/events/stream`) =>
    openStream(`${team.url}/api/v1/${path}`, headers);

  it.each(['a login', 'a personal access token', 'an access token'])(
    'ends a stream of %s when its user is disabled and keeps streams of other users',
    async (kind) => {
      const headers =
        kind === 'a login'
          ? { cookie: bob.jar.header() }
          : await bearer(kind === 'an access token' ? team.provider.accessToken('bob') : bob.token(['read']));
      const theirs = await follow(
        { cookie: carol.jar.header() },
        `sessions/${await createSession(carol)}/events/stream`,
      );
      const mine = await follow(headers);
      const user = await bob.userId();
      expect((await alice.post(`/api/v1/admin/users/${user}/disable`)).code).toBe('OK');
      const refused = await parseResponse(await fetch(`${team.url}/api/v1/agents`, { headers }));
      expect(refused.code).toBe('UNAUTHENTICATED');
      await mine.ended;
      expect(theirs.isOpen()).toBe(true);
      await theirs.leave();
      expect((await alice.post(`/api/v1/admin/users/${user}/enable`)).code).toBe('OK');
      expect((await parseResponse(await fetch(`${team.url}/api/v1/agents`, { headers }))).code).toBe('OK');
    },
  );

  it('ends a stream on logout, on deletion of its token and on expiry of its token', async () => {
    const [first, second] = [await bob.token(['read']), await bob.token(['read'], 1)];
    const streams = [
      await follow(await bearer(first)),
      await follow(await bearer(second)),
      await follow({ cookie: bob.jar.header() }),
      await follow({ cookie: bob.jar.header() }),
    ];
    await bob.send('DELETE', `/api/v1/auth/tokens/${first.id}`);
    await streams[0]?.ended;
    expect(streams.map((one) => one.isOpen())).toEqual([false, true, true, true]);
    await rowsOn(
      team.databaseUrl,
      `update auth.tokens set expires_at = now() where token_id = '${second.id}'`,
    );
    await streams[1]?.ended;
    expect(streams.map((one) => one.isOpen())).toEqual([false, false, true, true]);
    await bob.post('/api/v1/auth/logout');
    await Promise.all(streams.map((one) => one.ended));
  });

  it('ends a stream when its user loses the administrator role', async () => {
    const root = await team.logIn('alice');
    const stream = await follow(
      { cookie: root.jar.header() },
      `sessions/${await createSession(root)}/events/stream`,
    );
    team.provider.accounts.alice = { name: 'Alice', email: 'alice@example.com' };
    await team.logIn('alice');
    await stream.ended;
    team.provider.accounts.alice = { name: 'Alice', email: 'alice@example.com', groups: ['operators'] };
    alice = await team.logIn('alice');
  });

  it('aborts an AI SDK stream and a slowly read download', async () => {
    const slow = await turnOf(bob, [{ text: 'Hello', chunk_chars: 1, delay_ms: 2_000 }]);
    const turn = await follow({ cookie: bob.jar.header() }, `sessions/${slow}/ai-stream`);
    const bytes = Buffer.alloc(32 * 1024 * 1024, 1);
    const headers = { cookie: bob.jar.header(), origin: team.url };
    const url = `${team.url}/api/v1/sessions/${session}/files/content?path=a.bin`;
    expect((await fetch(url, { method: 'PUT', headers, body: bytes })).status).toBe(201);
    const download = slowReader(url, bob.jar.header());
    await download.begun;
    await bob.post('/api/v1/auth/logout');
    await Promise.all([turn.ended, download.ended]);
  });

  it('aborts a slow upload without writing a file', async () => {
    const { host, port, hostname } = new URL(team.url);
    const socket = connect(Number(port), hostname);
    const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.on('error', () => {});
    const head = [
      `PUT /api/v1/sessions/${session}/files/content?path=never.txt HTTP/1.1`,
      `Host: ${host}`,
      `Origin: ${team.url}`,
      `Cookie: ${bob.jar.header()}`,
      'Content-Length: 1000000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\nbegun`);
    const drip = setInterval(() => socket.write('x'.repeat(20_000)), 300);
    await bob.post('/api/v1/auth/logout');
    expect(await answered).toMatch(/^HTTP\/1\.1 4/);
    clearInterval(drip);
    socket.destroy();
    const again = await team.logIn('bob');
    expect((await again.get(`/api/v1/sessions/${session}/files`)).data).toEqual([]);
  });
});

async function bearer(token: Promise<string | { value: string }> | { value: string }) {
  const made = await token;
  return { authorization: `Bearer ${typeof made === 'string' ? made : made.value}` };
}

/** Creates a session with a new agent. */
async function createSession(browser: Browser): Promise<string> {
  const agent = await browser.post('/api/v1/agents', { name: 'Echo', model: 'rehearsal/echo' });
  const { data, text } = await browser.post(`/api/v1/agents/${agent.data.agent_id}/conversations`);
  if (!data.session_id) throw new Error(text);
  return String(data.session_id);
}

/** Creates a session with a running turn. */
async function turnOf(browser: Browser, steps: object[]): Promise<string> {
  const made = { name: 'Slow', model: 'rehearsal/script', model_options: { steps } };
  const agent = await browser.post('/api/v1/agents', made);
  const path = `/api/v1/agents/${agent.data.agent_id}/conversations`;
  const { data } = await browser.post(path, { message: 'Go' });
  return String(data.session_id);
}

interface Stream {
  /** Resolves when the response ends, for any reason. */
  ended: Promise<void>;
  isOpen(): boolean;
  leave(): Promise<void>;
}

async function openStream(url: string, headers: Record<string, string>): Promise<Stream> {
  const controller = new AbortController();
  const response = await fetch(url, { headers, signal: controller.signal });
  if (response.status !== 200) throw new Error(`${url} answers ${response.status}: ${await response.text()}`);
  let open = true;
  const ended = response.arrayBuffer().then(
    () => {},
    () => {},
  );
  void ended.then(() => {
    open = false;
  });
  return {
    ended,
    isOpen: () => open,
    async leave() {
      controller.abort();
      await ended;
    },
  };
}

/** Reads the beginning of a response and then nothing until the connection is closed. */
function slowReader(url: string, cookie: string): { begun: Promise<void>; ended: Promise<void> } {
  const { hostname, port, host, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\n\r\n`);
  socket.on('error', () => {});
  const begun = new Promise<void>((resolve) =>
    socket.once('data', () => {
      socket.pause();
      resolve();
    }),
  );
  // A close is detected only by reading. Small reads leave the buffers full.
  const polling = setInterval(() => {
    socket.resume();
    socket.once('data', () => socket.pause());
  }, 100);
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  void ended.then(() => clearInterval(polling));
  return { begun, ended };
}
