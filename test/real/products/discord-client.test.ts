import { Client, Events, GatewayIntentBits } from 'discord.js';
import { describe, expect, it } from 'vitest';
import type { Discord } from '../../support/products/discord/server.ts';
import { until } from '../../support/wait.ts';
import { ASK, startClient, startWithChannel } from './discord-bot.ts';

describe('Client of discord.js', () => {
  it('answers mentions and direct messages with replies and edits', async () => {
    await using system = await startWithChannel();
    const { discord, ada, mention, post, contents, seen } = system;
    await using _ = await startClient(discord);
    post('small talk');
    const question = post(`${mention} hello`);
    await seen('echo: hello');
    expect(contents()).toEqual(['small talk', `${mention} hello`, 'echo: hello']);
    expect(discord.messages(system.channel).at(-1)).toMatchObject({
      referenced_message: { id: question.id },
      mentions: [],
    });
    const direct = discord.directChannel(ada);
    post('in private', { channel: direct });
    await seen('echo: in private', direct);
  });

  it('starts threads and follows them', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel, mention, post, seen } = system;
    await using _ = await startClient(discord);
    const { id } = post(`${mention} thread`);
    await until('the thread exists', () => discord.messages(channel)[0]?.thread);
    const thread = discord.createThread(channel, 'Other', ada);
    post('follow me', { channel: thread });
    await seen('echo: follow me', thread);
    expect(discord.messages(channel)[0]?.thread).toMatchObject({ id, name: 'Answers' });
  });

  it('loads attachments from the CDN and sends files', async () => {
    await using system = await startWithChannel();
    const { discord, channel, mention, post, seen } = system;
    await using _ = await startClient(discord);
    post(mention, { files: [{ name: 'a.txt', type: 'text/plain', bytes: Buffer.from('text') }] });
    await seen('done');
    const attachment = discord.messages(channel).at(-1)?.attachments[0];
    expect(attachment).toMatchObject({ filename: 'upper.txt', size: 4 });
    expect(await (await fetch(attachment!.url)).text()).toBe('TEXT');
  });

  it('registers commands and answers them at once, later and for one user', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel, contents, seen } = system;
    await using running = await startClient(discord);
    await running.client.application?.commands.set([ASK]);
    const later = discord.runCommand(ada, channel, 'ask', { prompt: 'life' });
    await seen('and more');
    expect(contents()).toEqual(['answer to life', 'and more']);
    expect(later.state).toBe('answered');
    const secret = discord.runCommand(ada, channel, 'ask', { prompt: 'secret' });
    await until('the command is answered', () => secret.state === 'answered');
    expect(discord.messages(channel, true).at(-1)?.content).toBe('only for you');
  });

  it('updates the message of a clicked button', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel, mention, post, seen } = system;
    await using _ = await startClient(discord);
    post(`${mention} buttons`);
    await seen('echo: buttons');
    const click = discord.click(ada, channel, discord.messages(channel).at(-1)!, 'Deny');
    await seen('ada chose apr_1:deny');
    expect(click.state).toBe('answered');
    expect(discord.messages(channel).at(-1)?.components).toEqual([]);
  });

  it('refuses a wrong token before it connects, and intents that are not enabled', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    const application = { ...discord.application, token: `${discord.application.token}x` };
    await expect(startClient({ ...discord, application })).rejects.toThrow('An invalid token was provided.');
    const client = new Client({ intents: [GatewayIntentBits.GuildMembers], rest: { api: discord.apiUrl } });
    const errors: Error[] = [];
    client.on(Events.ShardError, (error) => errors.push(error));
    const codes: number[] = [];
    client.on(Events.ShardDisconnect, ({ code }) => codes.push(code));
    void client.login(discord.application.token).catch((error: Error) => errors.push(error));
    await until('the connection is refused', () => codes[0]);
    expect([codes, errors[0]?.message]).toEqual([[4014], 'Used disallowed intents']);
    await client.destroy();
  });
});

describe('Client of discord.js after disconnects', () => {
  const commands = ({ gateway }: Discord) => gateway.received.filter(({ op }) => op === 2 || op === 6);

  it.each([
    ['a request to reconnect', (discord: Discord) => discord.gateway.requestReconnect()],
    ['a connection that ends without a code', (discord: Discord) => discord.gateway.disconnect()],
    ['code 4000', (discord: Discord) => discord.gateway.disconnect(4000)],
  ])('resumes and receives missed messages after %s', async (_, disconnect) => {
    await using system = await startWithChannel();
    const { discord, post } = system;
    await using running = await startClient(discord);
    post('one');
    await until('the message arrives', () => running.contents.includes('one'));
    disconnect(discord);
    await until('the client leaves', () => discord.gateway.connected() === 0);
    post('missed');
    await until('the missed message arrives', () => running.contents.includes('missed'));
    expect(running.contents).toEqual(['one', 'missed']);
    expect(commands(discord).map(({ op, path }) => [op, path])).toEqual([
      [2, '/gateway'],
      [6, '/gateway/resume'],
    ]);
  });

  it('identifies again after a session that is not resumable and loses the messages meanwhile', async () => {
    await using system = await startWithChannel();
    const { discord, post } = system;
    await using running = await startClient(discord);
    discord.gateway.invalidate(false);
    post('lost');
    await until(
      'the client identifies again',
      () => commands(discord).length === 2 && discord.gateway.connected() === 1,
    );
    post('new');
    await until('the new message arrives', () => running.contents.includes('new'));
    expect(commands(discord).map(({ op }) => op)).toEqual([2, 2]);
    expect(running.contents).toEqual(['new']);
  });

  it('resumes when heartbeats are not acknowledged', async () => {
    await using system = await startWithChannel({ heartbeatMs: 300 });
    const { discord, post } = system;
    await using running = await startClient(discord);
    discord.gateway.acknowledgesHeartbeats = false;
    await until('the client resumes', () => commands(discord).some(({ op }) => op === 6));
    discord.gateway.acknowledgesHeartbeats = true;
    post('alive');
    await until('the message arrives', () => running.contents.includes('alive'));
  });
});
