import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { startDiscord } from '../../support/products/discord/server.ts';
import { callRest } from './rest-api.ts';

const MESSAGES = 'POST /channels/:channel/messages';

async function startWithChannels() {
  const clock = createFakeClock();
  const discord = await startDiscord({ clock });
  const guild = discord.createGuild('Operations', []);
  const [one, other] = ['one', 'other'].map((name) => discord.createChannel(guild, name));
  const post = (channel = one) =>
    callRest(discord, 'POST', `/channels/${channel?.id}/messages`, { content: 'a' });
  return { clock, discord, one, other, post, [Symbol.asyncDispose]: () => discord[Symbol.asyncDispose]() };
}

describe('Discord rate limits', () => {
  it('announce the bucket and refuse requests beyond it with 429 until it resets', async () => {
    await using system = await startWithChannels();
    const { clock, post } = system;
    const first = await post();
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '4',
      'x-ratelimit-reset-after': '5.000',
      'x-ratelimit-bucket': expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    for (let count = 0; count < 4; count++) await post();
    clock.advance(1_500);
    const refused = await post();
    expect(refused).toMatchObject({
      status: 429,
      body: { message: 'You are being rate limited.', retry_after: 3.5, global: false },
    });
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '4',
      'x-ratelimit-scope': 'user',
      'x-ratelimit-remaining': '0',
    });
    clock.advance(3_500);
    expect((await post()).status).toBe(200);
  });

  it('count per channel in buckets of one name', async () => {
    await using system = await startWithChannels();
    for (let count = 0; count < 5; count++) await system.post();
    const first = await system.post();
    const other = await system.post(system.other);
    expect([first.status, other.status]).toEqual([429, 200]);
    expect(other.headers.get('x-ratelimit-bucket')).toBe(first.headers.get('x-ratelimit-bucket'));
  });

  it('refuse all requests of bots globally, but not those of interactions', async () => {
    await using system = await startWithChannels();
    const { clock, discord, post } = system;
    discord.limitGlobally(2);
    const refused = await post();
    expect(refused).toMatchObject({ status: 429, body: { global: true, retry_after: 2 } });
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'x-ratelimit-global': 'true',
      'x-ratelimit-scope': 'global',
      'retry-after': '2',
    });
    expect((await callRest(discord, 'POST', '/interactions/1/a/callback', { type: 5 })).status).toBe(404);
    clock.advance(2_000);
    expect((await post()).status).toBe(200);
  });

  it('refuse more than 50 requests in a second globally', async () => {
    const clock = createFakeClock();
    await using discord = await startDiscord({ clock, routeLimit: { requests: 100, seconds: 1 } });
    const statuses = [];
    for (let count = 0; count < 51; count++)
      statuses.push((await callRest(discord, 'GET', '/users/@me')).status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('Discord faults', () => {
  it('refuse requests without effect, or end the connection after the effect', async () => {
    await using system = await startWithChannels();
    const { discord, one, post } = system;
    discord.faults.enqueue(
      MESSAGES,
      { kind: 'rate_limited', retryAfterSeconds: 2 },
      { kind: 'server_error', status: 503 },
      { kind: 'applied_then_cut' },
    );
    const limited = await post();
    expect(limited).toMatchObject({ status: 429, body: { retry_after: 2, global: false } });
    expect(limited.headers.get('x-ratelimit-scope')).toBe('shared');
    const path = `${discord.apiUrl}/v10/channels/${one?.id}/messages`;
    const headers = { authorization: `Bot ${discord.application.token}`, 'content-type': 'application/json' };
    const send = () => fetch(path, { method: 'POST', headers, body: '{"content":"cut"}' });
    expect((await send()).status).toBe(503);
    expect(discord.messages(one!)).toEqual([]);
    await expect(send()).rejects.toThrow('fetch failed');
    expect(discord.messages(one!).map(({ content }) => content)).toEqual(['cut']);
    expect(discord.requests.map(({ status }) => status)).toEqual([429, 503, 'cut']);
  });

  it('give the same token and keys for the same seed', async () => {
    const clock = createFakeClock();
    await using one = await startDiscord({ seed: 5, clock });
    await using same = await startDiscord({ seed: 5, clock });
    await using other = await startDiscord({ seed: 6, clock });
    const secrets = ({ application: { token, publicKey } }: typeof one) => [token, publicKey];
    expect(secrets(same)).toEqual(secrets(one));
    expect(secrets(other)).not.toEqual(secrets(one));
    expect(one.application.publicKey).toMatch(/^[0-9a-f]{64}$/);
  });
});
