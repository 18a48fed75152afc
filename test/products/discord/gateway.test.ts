import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { type Discord, type DiscordOptions, startDiscord } from '../../support/products/discord/server.ts';
import { until } from '../../support/wait.ts';
import {
  ALL_INTENTS,
  connectGateway,
  type GatewayClient,
  gatewayUrl,
  identifyGateway,
} from './gateway-client.ts';
import { callRest } from './rest-api.ts';

async function startWithChannel(options?: DiscordOptions) {
  const discord = await startDiscord(options);
  const ada = discord.createUser('ada');
  const guild = discord.createGuild('Operations', [ada]);
  const channel = discord.createChannel(guild, 'general');
  const post = (content: string, where = channel) => discord.post({ from: ada, channel: where, content });
  return {
    ...{ discord, ada, guild, channel, post },
    [Symbol.asyncDispose]: () => discord[Symbol.asyncDispose](),
  };
}

const created = (client: GatewayClient) =>
  client.payloads.filter(({ t }) => t === 'MESSAGE_CREATE').map(({ d }) => d.content);

async function resume(discord: Discord, ready: Record<string, unknown>, seq: number, token?: string) {
  const client = connectGateway(String(ready.resume_gateway_url));
  await client.next(10);
  client.send(6, { token: token ?? discord.application.token, session_id: ready.session_id, seq });
  return client;
}

describe('Discord gateway', () => {
  it('is announced by GET /gateway/bot with the limit of identifies', async () => {
    await using system = await startWithChannel();
    const { body } = await callRest(system.discord, 'GET', '/gateway/bot');
    expect(body).toMatchObject({
      url: gatewayUrl(system.discord),
      shards: 1,
      session_start_limit: { total: 1000, remaining: 1000, max_concurrency: 1 },
    });
    using _ = await identifyGateway(system.discord);
    const { body: after } = await callRest(system.discord, 'GET', '/gateway/bot');
    expect(after).toMatchObject({ session_start_limit: { remaining: 999 } });
  });

  it('is announced at a foreign address as a test asks', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    using client = await identifyGateway(discord);
    discord.overrides.gatewayUrl = 'wss://example.org/';
    expect((await callRest(discord, 'GET', '/gateway/bot')).body).toMatchObject({
      url: 'wss://example.org/',
    });
    discord.overrides.resumeUrl = 'wss://10.0.0.1/';
    using second = await identifyGateway(discord);
    const urls = [client, second].map(async (one) => (await one.next('READY')).d.resume_gateway_url);
    expect(await Promise.all(urls)).toEqual([expect.stringContaining('127.0.0.1'), 'wss://10.0.0.1/']);
  });

  it('says hello, and after identify READY and the guilds with increasing sequence numbers', async () => {
    await using system = await startWithChannel();
    using client = await identifyGateway(system.discord);
    await client.next('GUILD_CREATE');
    const [hello, ready, guild] = client.payloads;
    expect(hello).toMatchObject({ op: 10, d: { heartbeat_interval: 41_250 }, s: null });
    expect(ready).toMatchObject({
      s: 1,
      d: {
        v: 10,
        user: { id: system.discord.application.bot.id },
        guilds: [{ id: system.guild.id, unavailable: true }],
        resume_gateway_url: expect.stringMatching(/\/gateway\/resume$/),
      },
    });
    expect(guild).toMatchObject({ s: 2, d: { channels: [{ id: system.channel.id }] } });
  });

  it.each([
    ['a wrong token', 2, { token: 'wrong', intents: 0 }, 4004],
    ['unknown intents', 2, { intents: 1 << 18 }, 4013],
    ['a privileged intent that is not enabled', 2, { intents: 1 << 1 }, 4014],
    ['another shard', 2, { intents: 0, shard: [1, 2] }, 4010],
    ['a command before identify', 3, {}, 4003],
    ['an unknown opcode', 99, {}, 4001],
  ])('closes the connection for %s', async (_, op, d, code) => {
    await using system = await startWithChannel();
    using client = connectGateway(gatewayUrl(system.discord));
    await client.next(10);
    client.send(op, { token: system.discord.application.token, ...d });
    expect(await client.closed()).toBe(code);
  });

  it('closes the connection for another version and for a second identify', async () => {
    await using system = await startWithChannel();
    using old = connectGateway(gatewayUrl(system.discord), 'v=6&encoding=json');
    expect(await old.closed()).toBe(4012);
    using client = await identifyGateway(system.discord);
    client.send(2, { token: system.discord.application.token, intents: 0 });
    expect(await client.closed()).toBe(4005);
  });

  it('acknowledges heartbeats and closes the connection without them', async () => {
    const clock = createFakeClock();
    await using system = await startWithChannel({ clock, heartbeatMs: 10_000 });
    using client = await identifyGateway(system.discord);
    clock.advance(14_000);
    client.send(1, 2);
    await client.next(11);
    clock.advance(14_000);
    expect(client.closeCode).toBeUndefined();
    clock.advance(1_000);
    expect(await client.closed()).toBe(4009);
  });

  it('closes the connection for more than 120 commands in a minute', async () => {
    await using system = await startWithChannel();
    using client = await identifyGateway(system.discord);
    for (let count = 0; count < 120; count++) client.send(1, null);
    expect(await client.closed()).toBe(4008);
  });
});

describe('Discord events', () => {
  it('deliver messages of guilds, direct messages and threads, also those of the bot itself', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel, post, guild } = system;
    using client = await identifyGateway(discord);
    post('in the guild');
    post('direct', discord.directChannel(ada));
    const thread = discord.createThread(channel, 'Answers', ada);
    post('in the thread', thread);
    await callRest(discord, 'POST', `/channels/${channel.id}/messages`, { content: 'own', nonce: 'n1' });
    await until('all messages arrive', () => created(client).length === 4);
    expect(created(client)).toEqual(['in the guild', 'direct', 'in the thread', 'own']);
    const [inGuild, direct, inThread, own] = client.payloads.filter(({ t }) => t === 'MESSAGE_CREATE');
    expect(inGuild?.d).toMatchObject({ guild_id: guild.id, channel_type: 0, member: { roles: [] } });
    expect(direct?.d).not.toHaveProperty('guild_id');
    expect(direct?.d).toMatchObject({ channel_type: 1 });
    expect(inThread?.d).toMatchObject({ channel_id: thread.id, channel_type: 11 });
    expect(own?.d).toMatchObject({ author: { bot: true }, nonce: 'n1' });
  });

  it('deliver only what the intents include', async () => {
    await using system = await startWithChannel();
    const { discord, ada, post } = system;
    using client = await identifyGateway(discord, 1 << 12);
    post('in the guild');
    post('direct', discord.directChannel(ada));
    await client.next('MESSAGE_CREATE');
    expect(created(client)).toEqual(['direct']);
    expect(client.payloads.some(({ t }) => t === 'GUILD_CREATE')).toBe(false);
  });

  it('hide the content of guild messages without its intent, except of mentions', async () => {
    await using system = await startWithChannel();
    const { discord, ada, post } = system;
    using client = await identifyGateway(discord, ALL_INTENTS & ~(1 << 15));
    const mention = `${discord.mention(discord.application)} help`;
    post('secret');
    post(mention);
    post('direct', discord.directChannel(ada));
    await until('all messages arrive', () => created(client).length === 3);
    expect(created(client)).toEqual(['', mention, 'direct']);
  });

  it('do not count a mention of the role of the bot as a mention of the bot', async () => {
    await using system = await startWithChannel();
    const { discord, guild, post } = system;
    using client = await identifyGateway(discord);
    post(`${discord.mentionRole(guild)} help`);
    const { d } = await client.next('MESSAGE_CREATE');
    expect(d).toMatchObject({ mentions: [], mention_roles: [expect.any(String)] });
  });

  it('report edits, also without change of the text', async () => {
    await using system = await startWithChannel();
    using client = await identifyGateway(system.discord);
    system.discord.edit(system.channel, system.post('one'), 'two');
    expect((await client.next('MESSAGE_UPDATE')).d).toMatchObject({ content: 'two' });
    expect(created(client)).toEqual(['one']);
  });

  it('arrive twice or after the next one as the fault plan decides, each with a number of its own', async () => {
    await using system = await startWithChannel({ faults: { duplicate: 1, reorder: 1 } });
    using client = await identifyGateway(system.discord);
    system.post('a');
    system.post('b');
    await until('all copies arrive', () => created(client).length === 4);
    expect(created(client)).toEqual(['b', 'b', 'a', 'a']);
    const numbers = client.payloads.flatMap(({ s }) => s ?? []);
    expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
  });
});

describe('Discord gateway sessions', () => {
  it('replay the missed events after the sequence number, and RESUMED', async () => {
    await using system = await startWithChannel();
    const { discord, post } = system;
    const client = await identifyGateway(discord);
    post('seen');
    const { s } = await client.next('MESSAGE_CREATE');
    const { d: ready } = await client.next('READY');
    client[Symbol.dispose]();
    await until('the server notices', () => discord.gateway.connected() === 0);
    post('missed');
    post('also missed');
    using resumed = await resume(discord, ready, s!);
    await resumed.next('RESUMED');
    expect(created(resumed)).toEqual(['missed', 'also missed']);
    expect(discord.gateway.received.at(-1)).toMatchObject({ op: 6, path: '/gateway/resume' });
    post('new');
    await until('the connection goes on', () => created(resumed).length === 3);
  });

  it('repeat events when a client resumes with an older number', async () => {
    await using system = await startWithChannel();
    const { discord, post } = system;
    const client = await identifyGateway(discord);
    post('handled');
    const { s } = await client.next('MESSAGE_CREATE');
    const { d: ready } = await client.next('READY');
    client[Symbol.dispose]();
    using resumed = await resume(discord, ready, s! - 1);
    await resumed.next('RESUMED');
    expect(created(resumed)).toEqual(['handled']);
  });

  it('end when the client closes with 1000, and stay after other codes', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    for (const [code, isResumable] of [
      [1000, false],
      [4200, true],
    ] as const) {
      const client = await identifyGateway(discord);
      const { d: ready } = await client.next('READY');
      client.close(code);
      await client.closed();
      using resumed = await resume(discord, ready, 1);
      await resumed.next(isResumable ? 'RESUMED' : 9);
    }
  });

  it('refuse to resume with a number that was never sent, a wrong token or an unknown session', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    using client = await identifyGateway(discord);
    const { d: ready } = await client.next('READY');
    using ahead = await resume(discord, ready, 999);
    expect(await ahead.closed()).toBe(4007);
    using foreign = await resume(discord, ready, 1, 'wrong');
    expect(await foreign.closed()).toBe(4004);
    using unknown = await resume(discord, { ...ready, session_id: 'unknown' }, 1);
    expect((await unknown.next(9)).d).toBe(false);
  });

  it('are told to reconnect, to send a heartbeat, and that they are invalid', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    using client = await identifyGateway(discord);
    const { d: ready } = await client.next('READY');
    discord.gateway.requestReconnect();
    discord.gateway.requestHeartbeat();
    discord.gateway.invalidate(true);
    await client.next(7);
    await client.next(1);
    expect((await client.next(9)).d).toBe(true);
    client.send(6, { token: discord.application.token, session_id: ready.session_id, seq: 1 });
    await client.next('RESUMED');
    discord.gateway.invalidate(false);
    using resumed = await resume(discord, ready, 1);
    expect((await resumed.next(9)).d).toBe(false);
  });

  it('lose their connection with a code or without one', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    using first = await identifyGateway(discord);
    discord.gateway.disconnect(4000);
    expect(await first.closed()).toBe(4000);
    using second = await identifyGateway(discord);
    discord.gateway.disconnect();
    expect(await second.closed()).toBe(1006);
    using third = await identifyGateway(discord);
    discord.resetToken(discord.application);
    expect(await third.closed()).toBe(4004);
  });
});
