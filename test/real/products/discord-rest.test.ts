import { describe, expect, it } from 'vitest';
import { startClient, startWithChannel } from './discord-bot.ts';

describe('REST of discord.js', () => {
  const MESSAGES = 'POST /channels/:channel/messages';

  it('waits for buckets and for 429 of a resource, and repeats server errors', async () => {
    await using system = await startWithChannel({ routeLimit: { requests: 2, seconds: 1 } });
    const { discord, channel, contents } = system;
    await using running = await startClient(discord);
    discord.faults.enqueue(MESSAGES, { kind: 'server_error', status: 502 }, undefined, {
      kind: 'rate_limited',
      retryAfterSeconds: 1,
    });
    const target = await running.client.channels.fetch(channel.id);
    if (!target?.isSendable()) throw new Error('the channel is not writable');
    for (const content of ['a', 'b', 'c', 'd']) await target.send(content);
    expect(contents()).toEqual(['a', 'b', 'c', 'd']);
    const statuses = discord.requests.filter(({ route }) => route === MESSAGES).map(({ status }) => status);
    expect(statuses).toEqual([502, 200, 429, 200, 200, 200]);
  });

  it('waits for the global limit', async () => {
    await using system = await startWithChannel();
    const { discord, channel } = system;
    await using running = await startClient(discord, { rest: { rejectOnRateLimit: ['/channels'] } });
    discord.limitGlobally(2);
    await expect(running.client.channels.fetch(channel.id, { force: true })).rejects.toMatchObject({
      global: true,
      scope: 'global',
    });
  });

  it('repeats a create whose answer was cut off, once with an enforced nonce and twice without', async () => {
    await using system = await startWithChannel();
    const { discord, channel, contents } = system;
    await using running = await startClient(discord);
    const target = await running.client.channels.fetch(channel.id);
    if (!target?.isSendable()) throw new Error('the channel is not writable');
    discord.faults.enqueue(MESSAGES, { kind: 'applied_then_cut' });
    await send(() => target.send({ content: 'once', nonce: '1', enforceNonce: true }));
    discord.faults.enqueue(MESSAGES, { kind: 'applied_then_cut' });
    await send(() => target.send({ content: 'twice' }));
    expect(contents()).toEqual(['once', 'twice', 'twice']);
  });

  it('throws refusals with their code and member', async () => {
    await using system = await startWithChannel();
    const { discord, channel } = system;
    await using running = await startClient(discord);
    const target = await running.client.channels.fetch(channel.id);
    if (!target?.isSendable()) throw new Error('the channel is not writable');
    await expect(target.send('a'.repeat(2001))).rejects.toMatchObject({
      code: 50035,
      status: 400,
      message: expect.stringContaining('content[BASE_TYPE_MAX_LENGTH]: Must be 2000 or fewer in length.'),
    });
    discord.restrict(channel, ['view']);
    await expect(target.send('a')).rejects.toMatchObject({ code: 50001, status: 403 });
  });
});

/** Sends as a caller that repeats a request whose connection has ended. */
async function send(request: () => Promise<unknown>): Promise<void> {
  await request().catch(request);
}
