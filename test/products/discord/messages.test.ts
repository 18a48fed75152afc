import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { type DiscordOptions, startDiscord } from '../../support/products/discord/server.ts';
import { callRest, type Method } from './rest-api.ts';

async function startWithChannel(options: DiscordOptions = {}) {
  const discord = await startDiscord({ routeLimit: { requests: 40, seconds: 1 }, ...options });
  const ada = discord.createUser('ada');
  const guild = discord.createGuild('Operations', [ada]);
  const channel = discord.createChannel(guild, 'general');
  const messages = `/channels/${channel.id}/messages`;
  const call = (method: Method, path: string, body?: object) => callRest(discord, method, path, body);
  return {
    ...{ discord, ada, guild, channel, messages, call },
    post: (body: object) => call('POST', messages, body),
    contents: () => discord.messages(channel).map(({ content }) => content),
    [Symbol.asyncDispose]: () => discord[Symbol.asyncDispose](),
  };
}

const button = (custom_id: string, label = custom_id) => ({ type: 2, style: 1, custom_id, label });

describe('Discord POST /channels/{channel.id}/messages', () => {
  it('creates a message, trims its content and shows it in the channel', async () => {
    await using system = await startWithChannel();
    const { status, body } = await system.post({ content: ' **done** ' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^\d{17,19}$/),
      author: { id: system.discord.application.id, bot: true },
      content: '**done**',
      edited_timestamp: null,
    });
    expect(system.discord.messages(system.channel)).toEqual([body]);
  });

  it('returns the existing message for an enforced nonce, and creates another without enforcement', async () => {
    await using system = await startWithChannel();
    const nonce = 'pst_01';
    const first = await system.post({ content: 'a', nonce, enforce_nonce: true });
    const again = await system.post({ content: 'changed', nonce, enforce_nonce: true });
    expect(again.body).toEqual(first.body);
    expect(first.body.nonce).toBe(nonce);
    await system.post({ content: 'b', nonce });
    expect(system.contents()).toEqual(['a', 'b']);
  });

  it('forgets nonces after some minutes', async () => {
    const clock = createFakeClock();
    await using system = await startWithChannel({ clock });
    const message = { content: 'a', nonce: '1', enforce_nonce: true };
    await system.post(message);
    clock.advance(6 * 60_000);
    await system.post(message);
    expect(system.contents()).toEqual(['a', 'a']);
  });

  it('accepts 2000 characters and refuses one more with code 50035 and the member', async () => {
    await using system = await startWithChannel();
    expect((await system.post({ content: '🏟'.repeat(2000) })).status).toBe(200);
    expect(await system.post({ content: 'a'.repeat(2001) })).toMatchObject({
      status: 400,
      body: {
        code: 50035,
        message: 'Invalid Form Body',
        errors: {
          content: {
            _errors: [{ code: 'BASE_TYPE_MAX_LENGTH', message: 'Must be 2000 or fewer in length.' }],
          },
        },
      },
    });
  });

  it.each([
    ['no content', {}, 50006],
    ['a nonce of 26 characters', { content: 'a', nonce: 'a'.repeat(26) }, 50035],
    ['an unknown message to reply to', { content: 'a', message_reference: { message_id: '1' } }, 50035],
    [
      'six buttons in a row',
      { components: [{ type: 1, components: [...'abcdef'].map((id) => button(id)) }] },
      50035,
    ],
    ['two buttons with one id', { components: [{ type: 1, components: [button('a'), button('a')] }] }, 50035],
    [
      'a button id of 101 characters',
      { components: [{ type: 1, components: [button('a'.repeat(101), 'a')] }] },
      50035,
    ],
    ['exclusive mentions', { content: 'a', allowed_mentions: { parse: ['users'], users: ['1'] } }, 50035],
  ])('refuses %s', async (_, body, code) => {
    await using system = await startWithChannel();
    expect(await system.post(body)).toMatchObject({ status: 400, body: { code } });
  });

  it('replies to a message and ignores an unknown one if it may', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel } = system;
    const question = discord.post({ from: ada, channel, content: 'question' });
    const reply = await system.post({ content: 'a', message_reference: { message_id: question.id } });
    expect(reply.body).toMatchObject({
      type: 19,
      referenced_message: { content: 'question' },
      mentions: [{ id: ada.id }],
    });
    const free = { content: 'a', message_reference: { message_id: '1', fail_if_not_exists: false } };
    expect((await system.post(free)).body).toMatchObject({ type: 0 });
  });

  it('notifies only whom allowed_mentions allows', async () => {
    await using system = await startWithChannel();
    const content = `@everyone ${system.discord.mention(system.ada)}`;
    expect((await system.post({ content })).body).toMatchObject({ mention_everyone: true, mentions: [{}] });
    const quiet = await system.post({ content, allowed_mentions: { parse: [] } });
    expect(quiet.body).toMatchObject({ mention_everyone: false, mentions: [], content });
  });

  it('accepts files[n] with payload_json and serves them from the CDN without a token', async () => {
    const clock = createFakeClock();
    await using system = await startWithChannel({ clock });
    const form = new FormData();
    const attachments = [{ id: 0, filename: 'my report.csv', description: 'numbers' }];
    form.set('payload_json', JSON.stringify({ content: 'see', attachments }));
    form.set('files[0]', new Blob(['a,b'], { type: 'text/csv' }), 'x.csv');
    const { body } = await system.post(form);
    const [attachment] = body.attachments as { url: string; filename: string }[];
    expect(attachment).toMatchObject({
      filename: 'my_report.csv',
      size: 3,
      content_type: 'text/csv',
      description: 'numbers',
      url: expect.stringContaining(`${system.discord.cdnUrl}/attachments/${system.channel.id}/`),
    });
    const url = attachment?.url ?? '';
    expect(await (await fetch(url)).text()).toBe('a,b');
    expect((await fetch(url.replace(/hm=./, 'hm=x'))).status).toBe(404);
    clock.advance(2 * 86_400_000);
    expect((await fetch(url)).status).toBe(404);
  });

  it('names foreign addresses of attachments, and fails downloads, as a test asks', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel } = system;
    const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('text') };
    const foreign = { ...file, url: 'http://10.0.0.1/a' };
    const { attachments } = discord.post({ from: ada, channel, files: [foreign, file] });
    expect(attachments.map(({ url }) => url)).toEqual([foreign.url, expect.stringContaining(discord.cdnUrl)]);
    const download = () => fetch(attachments[1]!.url, { redirect: 'manual' });
    discord.faults.enqueue('download', { kind: 'server_error', status: 503 }, { kind: 'applied_then_cut' });
    expect((await download()).status).toBe(503);
    await expect(download()).rejects.toThrow('fetch failed');
    discord.overrides.downloadLocation = 'http://127.0.0.1:9/';
    expect((await download()).headers.get('location')).toBe('http://127.0.0.1:9/');
  });

  it('refuses a file of more than 10 MiB with code 40005', async () => {
    await using system = await startWithChannel();
    const form = new FormData();
    form.set('files[0]', new Blob([Buffer.alloc(10 * 1024 * 1024 + 1)]), 'a');
    expect(await system.post(form)).toMatchObject({ status: 413, body: { code: 40005 } });
  });
});

describe('Discord access', () => {
  it('answers 401 for a wrong or reset token', async () => {
    await using system = await startWithChannel();
    const { discord } = system;
    const old = discord.application.token;
    discord.resetToken(discord.application);
    for (const token of [old, 'wrong', ''])
      expect(await callRest(discord, 'GET', '/users/@me', undefined, token)).toMatchObject({
        status: 401,
        body: { message: '401: Unauthorized', code: 0 },
      });
    expect((await system.call('GET', '/users/@me')).body.id).toBe(discord.application.id);
  });

  it('tells unknown channels, channels without access and missing permissions apart', async () => {
    await using system = await startWithChannel();
    const { discord, channel } = system;
    expect(await system.call('GET', '/channels/1')).toMatchObject({ status: 404, body: { code: 10003 } });
    discord.restrict(channel, ['send']);
    expect(await system.post({ content: 'a' })).toMatchObject({ status: 403, body: { code: 50013 } });
    discord.restrict(channel, ['view']);
    expect(await system.post({ content: 'a' })).toMatchObject({ status: 403, body: { code: 50001 } });
    discord.restrict(channel, []);
    expect((await system.post({ content: 'a' })).status).toBe(200);
  });

  it('answers 404 for an unknown route and code 50041 for another version', async () => {
    await using system = await startWithChannel();
    expect(await system.call('GET', '/nothing')).toMatchObject({ status: 404, body: { code: 0 } });
    const response = await fetch(`${system.discord.apiUrl}/v6/users/@me`);
    expect(await response.json()).toMatchObject({ code: 50041 });
  });
});

describe('Discord messages of a channel', () => {
  it('are edited with new members only, and foreign ones are refused with code 50005', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel, messages } = system;
    const rows = [{ type: 1, components: [button('a', 'Allow')] }];
    const { body } = await system.post({ content: 'one', components: rows });
    const edited = await system.call('PATCH', `${messages}/${body.id}`, { content: 'two' });
    expect(edited.body).toMatchObject({
      content: 'two',
      components: rows,
      edited_timestamp: expect.any(String),
    });
    await system.call('PATCH', `${messages}/${body.id}`, { components: [] });
    expect(discord.messages(channel)[0]).toMatchObject({ content: 'two', components: [] });
    expect((await system.call('PATCH', `${messages}/${body.id}`, { content: 'two' })).status).toBe(200);
    const { id } = discord.post({ from: ada, channel, content: 'mine' });
    expect(await system.call('PATCH', `${messages}/${id}`, { content: 'a' })).toMatchObject({
      status: 403,
      body: { code: 50005 },
    });
    expect(await system.call('PATCH', `${messages}/1`, { content: 'a' })).toMatchObject({
      status: 404,
      body: { code: 10008 },
    });
  });

  it('are listed newest first, before or after an id', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel, messages } = system;
    const ids = [...'abcd'].map((content) => discord.post({ from: ada, channel, content }).id);
    const list = async (query: string) =>
      (await system.call('GET', `${messages}?${query}`)).body.map(
        (one) => (one as { content: string }).content,
      );
    expect(await list('')).toEqual(['d', 'c', 'b', 'a']);
    expect(await list(`after=${ids[0]}&limit=2`)).toEqual(['c', 'b']);
    expect(await list(`before=${ids[3]}&limit=2`)).toEqual(['c', 'b']);
  });

  it('start one thread, which has the id of its message', async () => {
    await using system = await startWithChannel();
    const { discord, channel, messages } = system;
    const { body } = await system.post({ content: 'question' });
    const start = () => system.call('POST', `${messages}/${body.id}/threads`, { name: 'Answers' });
    expect((await start()).body).toMatchObject({
      id: body.id,
      type: 11,
      parent_id: channel.id,
      name: 'Answers',
    });
    expect(await start()).toMatchObject({ status: 400, body: { code: 160004 } });
    await system.call('POST', `/channels/${body.id}/messages`, { content: 'in the thread' });
    expect(discord.messages(channel)).toHaveLength(1);
  });

  it('cannot be edited in an archived thread until a new message unarchives it', async () => {
    await using system = await startWithChannel();
    const { discord, ada, channel } = system;
    const thread = discord.createThread(channel, 'Answers', ada);
    const path = `/channels/${thread.id}/messages`;
    const { body } = await system.call('POST', path, { content: 'a' });
    discord.archive(thread);
    const edit = () => system.call('PATCH', `${path}/${body.id}`, { content: 'b' });
    expect(await edit()).toMatchObject({ status: 400, body: { code: 50083 } });
    await system.call('POST', path, { content: 'c' });
    expect((await edit()).status).toBe(200);
  });

  it('reach a user in one direct message channel', async () => {
    await using system = await startWithChannel();
    const { discord, ada } = system;
    const open = () => system.call('POST', '/users/@me/channels', { recipient_id: ada.id });
    const { body } = await open();
    expect((await open()).body.id).toBe(body.id);
    const channel = discord.directChannel(ada);
    expect(channel.id).toBe(body.id);
    channel.isClosed = true;
    expect(await system.call('POST', `/channels/${body.id}/messages`, { content: 'a' })).toMatchObject({
      status: 403,
      body: { code: 50007 },
    });
  });
});
