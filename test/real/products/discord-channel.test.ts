import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { inboundEvent, inboundFile } from '../../../services/deployments/channels/products/inbound-event.ts';
import { until } from '../../support/wait.ts';
import { startWithChannel } from './discord-bot.ts';
import { channelPlace, directPlace, openDiscordClient, post } from './discord-channel-client.ts';

const never = new AbortController().signal;
const MESSAGES = 'POST /channels/:channel/messages';

describe('posts in Discord', () => {
  it('creates the thread of a conversation with the first answer, and edits and deletes messages', async () => {
    await using system = await startWithChannel();
    const { discord, channel } = system;
    const client = await openDiscordClient(discord);
    const root = system.post('Hi');
    const place = channelPlace(channel.id, root.id);
    const id = await client.createPost(post({ place, markdown: 'Working on **it** @everyone' }), never);
    const thread = discord.threadOf(root);
    const [answer] = discord.messages(thread).slice(-1);
    expect(answer).toMatchObject({ id, content: 'Working on **it** @everyone', mention_everyone: false });
    await client.createPost(
      post({ place, postId: 'pst_01K0000000000000000000000B', markdown: 'two' }),
      never,
    );
    await client.editPost(id, post({ place, markdown: 'Done' }), never);
    expect(
      discord
        .messages(thread)
        .slice(-2)
        .map(({ content }) => content),
    ).toEqual(['Done', 'two']);
    discord.archive(thread);
    await client.editPost(id, post({ place, markdown: 'Done later' }), never);
    expect(discord.messages(thread).find((one) => one.id === id)?.content).toBe('Done later');
    await client.deletePost(id, place, never);
    await expect(client.editPost(id, post({ place }), never)).rejects.toMatchObject({ kind: 'missing' });
    await expect(client.createPost(post({ place }), never)).rejects.toMatchObject({ kind: 'missing' });
    const again = await client.createPost(post({ place, revision: 2, markdown: 'Again' }), never);
    expect(discord.messages(thread).at(-1)).toMatchObject({ id: again, content: 'Again' });
    discord.deleteChannel(thread);
    await expect(client.editPost(id, post({ place }), never)).rejects.toMatchObject({ kind: 'missing' });
  });

  it('replies to a message, also after it was deleted or where the bot may not read the history', async () => {
    await using system = await startWithChannel();
    const { discord, channel } = system;
    const client = await openDiscordClient(discord);
    const question = system.post('Is it up?');
    const place = channelPlace(channel.id);
    const send = (postId: string, messageId: string) =>
      client.createPost(post({ place, postId, replyTo: { messageId, place: place.place } }), never);
    await send('pst_1', question.id);
    await send('pst_2', '4611686018427387904');
    discord.restrict(channel, ['history']);
    await send('pst_3', question.id);
    const answers = discord.messages(channel).slice(1);
    expect(answers.map((one) => one.message_reference?.message_id)).toEqual([
      question.id,
      undefined,
      undefined,
    ]);
    expect(answers[0]?.mentions).toEqual([]);
  });

  it('goes on with replies in a channel where no thread can be created', async () => {
    await using system = await startWithChannel();
    const { discord, channel } = system;
    discord.restrict(channel, ['threads']);
    const client = await openDiscordClient(discord);
    const root = system.post('Hi');
    const place = channelPlace(channel.id, root.id);
    expect(client.movedPlace?.(place)).toBeUndefined();
    const replyTo = { messageId: root.id, place: channel.id };
    const id = await client.createPost(post({ place, replyTo }), never);
    await client.editPost(id, post({ place, markdown: 'Done' }), never);
    expect(discord.messages(channel).at(-1)).toMatchObject({
      ...{ id, content: 'Done', message_reference: { message_id: root.id } },
    });
    expect(client.movedPlace?.(place)).toEqual({
      place: channelPlace(channel.id),
      reason: expect.stringContaining('The bot lacks the permission Create Public Threads.'),
    });
    await client.deletePost(id, place, never);
    expect(discord.messages(channel)).toHaveLength(1);
  });

  it('posts a message once when the answer to its creation is lost', async () => {
    await using system = await startWithChannel();
    const { discord, channel } = system;
    const client = await openDiscordClient(discord);
    const place = channelPlace(channel.id);
    discord.faults.enqueue(MESSAGES, { kind: 'applied_then_cut' });
    await expect(client.createPost(post({ place }), never)).rejects.toMatchObject({ kind: 'ambiguous' });
    expect(await client.findPost?.({ postId: post({ place }).postId, place }, never)).toBeUndefined();
    const id = await client.createPost(post({ place }), never);
    expect(discord.messages(channel)).toMatchObject([{ id, content: 'Hello' }]);
    const file = {
      ...{ postId: 'pst_01K0000000000000000000000C', place, name: 'a.txt', mediaType: 'text/plain', size: 4 },
      read: async function* () {
        yield Buffer.from('text');
      },
    };
    discord.faults.enqueue(MESSAGES, { kind: 'applied_then_cut' });
    await expect(client.uploadFile(file, never)).rejects.toMatchObject({ kind: 'ambiguous' });
    const upload = await client.uploadFile(file, never);
    const [, uploaded, ...others] = discord.messages(channel);
    expect(others).toEqual([]);
    expect(uploaded).toMatchObject({ id: upload, attachments: [{ filename: 'a.txt', size: 4 }] });
  });

  it('reports limits, failures of the server and refusals as they are', async () => {
    await using system = await startWithChannel({ routeLimit: { requests: 3, seconds: 30 } });
    const { discord, channel } = system;
    const client = await openDiscordClient(discord);
    const place = channelPlace(channel.id);
    const create = (number: number) => client.createPost(post({ place, postId: `pst_${number}` }), never);
    discord.faults.enqueue(
      MESSAGES,
      { kind: 'server_error', status: 503 },
      { kind: 'rate_limited', retryAfterSeconds: 2 },
    );
    await expect(create(1)).rejects.toMatchObject({ kind: 'unavailable' });
    const limited = await create(2).catch((error: unknown) => error);
    expect(limited).toMatchObject({ kind: 'rate_limited' });
    expect(limited).toHaveProperty(
      'retryAfterMs',
      expect.toSatisfy((ms: number) => ms >= 2000 && ms < 5000),
    );
    for (const number of [3, 4, 5]) await create(number);
    await expect(create(6)).rejects.toMatchObject({ kind: 'rate_limited' });
    const other = discord.createChannel(system.guild, 'closed');
    discord.restrict(other, ['send']);
    const closed = post({ place: channelPlace(other.id) });
    await expect(client.createPost(closed, never)).rejects.toMatchObject({
      kind: 'refused',
      message: 'The bot lacks the permission Send Messages.',
    });
    discord.restrict(other, ['view']);
    await expect(client.createPost(closed, never)).rejects.toMatchObject({
      kind: 'refused',
      message: 'The bot lacks the permission View Channel.',
    });
    const wrong = await openDiscordClient(discord, { token: 'wrong-token' });
    await expect(wrong.createPost(closed, never)).rejects.toMatchObject({ kind: 'unauthorized' });
    await expect(wrong.createPost(closed, never)).rejects.toMatchObject({ kind: 'unauthorized' });
    const away = await openDiscordClient(discord, { apiUrl: 'http://127.0.0.1:2/api' });
    await expect(away.createPost(closed, never)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('sends private notices as direct messages, and never their text to the channel', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel } = system;
    const client = await openDiscordClient(discord);
    const notice = post({
      ...{ place: channelPlace(channel.id), kind: 'notice', privateTo: ada.id },
      markdown: 'Open https://agents.example.com/link/secret',
    });
    expect(await client.createPost(notice, never)).toBe('');
    const direct = discord.directChannel(ada);
    expect(discord.messages(direct).map(({ content }) => content)).toEqual([notice.markdown]);
    expect(discord.messages(channel)).toEqual([]);
    direct.isClosed = true;
    await client.createPost({ ...notice, postId: 'pst_2' }, never);
    expect(discord.messages(channel)).toMatchObject([
      { content: expect.stringContaining('direct messages'), mentions: [{ id: ada.id }] },
    ]);
    expect(JSON.stringify(discord.messages(channel))).not.toContain('secret');
  });
});

describe('files of Discord', () => {
  it('reads attachments from the CDN alone, without the token, up to the limit', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    const client = await openDiscordClient(discord, { fileMaxBytes: 8 });
    const bytes = Buffer.from('12345678');
    const { attachments } = system.post('', { files: [{ name: 'a.txt', type: 'text/plain', bytes }] });
    const url = attachments[0]?.url ?? '';
    expect(await buffer(await client.downloadFile(inboundFile({ url, size: 8 }), never))).toEqual(bytes);
    const longer = system.post('', { files: [{ name: 'b', type: 'text/plain', bytes: Buffer.alloc(9) }] });
    const tooLong = inboundFile({ url: longer.attachments[0]?.url ?? '' });
    const read = client.downloadFile(tooLong, never).then(buffer);
    await expect(read).rejects.toMatchObject({ kind: 'too_large' });
    const announced = client.downloadFile({ ...tooLong, size: 9 }, never);
    await expect(announced).rejects.toMatchObject({ kind: 'too_large' });
    for (const foreign of ['http://10.0.0.1/a', 'https://example.org/a', url.replace('hm=', 'hm=0')])
      await expect(client.downloadFile(inboundFile({ url: foreign }), never)).rejects.toMatchObject({
        kind: 'gone',
      });
    discord.overrides.downloadLocation = 'http://127.0.0.1:9/';
    await expect(client.downloadFile(inboundFile({ url }), never)).rejects.toMatchObject({ kind: 'gone' });
  });
});

describe('registration at Discord', () => {
  it('sets commands, and tells what is wrong with application, intents, endpoint and permissions', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    const { application } = discord;
    const client = await openDiscordClient(discord);
    const problems = async (one = client) =>
      (await one.probe(never)).filter(({ ok }) => !ok).map(({ name }) => name);
    expect(await client.me(never)).toMatchObject({ botId: application.bot.id, appId: application.id });
    expect(await problems()).toEqual(['commands']);
    application.interactionsEndpointUrl = 'https://other.example.com/secret';
    application.privilegedIntents = 0;
    expect(await problems()).toEqual(['intents', 'interactions_endpoint', 'commands']);
    await client.register(never);
    await client.register(never);
    expect(application.interactionsEndpointUrl).toBeNull();
    expect(await problems()).toEqual(['intents']);
    await client.unregister(never);
    expect(application.commands.get('global')).toEqual([]);
    const other = await openDiscordClient(discord, { applicationId: '1' });
    await expect(other.me(never)).rejects.toMatchObject({ kind: 'unauthorized' });
    expect(await problems(other)).toContain('application_id');
    const http = await openDiscordClient(discord, {
      config: { mode: 'http' },
      callbackUrl: 'http://127.0.0.1:9/callback',
    });
    await expect(http.register(never)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('could not verify the callback URL'),
    });
    expect(JSON.stringify(await client.probe(never))).not.toContain(application.token);
    expect(await (await openDiscordClient(discord, { token: 'wrong' })).probe(never)).toMatchObject([
      { name: 'token', ok: false },
    ]);
  });
});

describe('expired interactions of Discord', () => {
  it('shows the answer in a direct message', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel } = system;
    const client = await openDiscordClient(discord);
    const event = inboundEvent({
      ...{ kind: 'command', command: 'link', answerToken: 'expired', senderId: ada.id },
      place: directPlace(channel.id),
    });
    await client.answer(event, 'Open the link', never);
    const direct = discord.directChannel(ada);
    await until('the direct message', () => discord.messages(direct).length > 0);
    expect(discord.messages(direct).map(({ content }) => content)).toEqual(['Open the link']);
    expect(discord.messages(channel)).toEqual([]);
  });
});
