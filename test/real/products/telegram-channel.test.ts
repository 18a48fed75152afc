import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { inboundEvent, inboundFile } from '../../../services/deployments/channels/products/inbound-event.ts';
import { telegram as parser } from '../../../services/deployments/channels/products/telegram/product.ts';
import { IDENTITIES } from '../../services/deployments/channels/fixtures.ts';
import { startTelegram, type Telegram } from '../../support/products/telegram/server.ts';
import { until } from '../../support/wait.ts';
import { createReceiver, groupPlace, openTelegramClient, post, privatePlace } from './telegram-client.ts';

const never = new AbortController().signal;
const APPROVAL = {
  approvalId: 'apr_01K0000000000000000000000A',
  tool: 'bash',
  inputJson: '{"command":"ls"}',
  canAllow: true,
  decision: '',
  decidedBy: '',
  consoleUrl: 'https://agents.example.com/sessions/ses_1',
};

async function openPrivate(telegram: Telegram) {
  const ada = telegram.createUser({ firstName: 'Ada', username: 'ada' });
  const chat = telegram.privateChat(ada);
  const client = await openTelegramClient(telegram);
  return { ada, chat, client, place: privatePlace(chat.id) };
}

function requestsOf(telegram: Telegram, method: string) {
  return telegram.requests.filter((one) => one.method === method);
}

describe('posts in Telegram', () => {
  it('creates, edits and deletes messages with markup', async () => {
    await using telegram = await startTelegram();
    const { chat, client, place } = await openPrivate(telegram);
    const id = await client.createPost(post({ place, markdown: 'Working on **it**' }), never);
    expect(telegram.messages(chat).at(-1)).toMatchObject({
      text: 'Working on it',
      entities: [{ type: 'bold', offset: 11, length: 2 }],
    });
    const answer = post({ place, markdown: 'Done: `1 < 2`' });
    await client.editPost(id, answer, never);
    await client.editPost(id, answer, never);
    expect(telegram.messages(chat).map(({ text }) => text)).toEqual(['Done: 1 < 2']);
    expect(requestsOf(telegram, 'editMessageText').map(({ status }) => status)).toEqual([200, 400]);
    await client.deletePost(id, place, never);
    expect(telegram.messages(chat)).toEqual([]);
    await expect(client.editPost(id, answer, never)).rejects.toMatchObject({ kind: 'missing' });
  });

  it('sends something visible for text that has nothing visible', async () => {
    await using telegram = await startTelegram();
    const { chat, client, place } = await openPrivate(telegram);
    await client.createPost(post({ place, markdown: ' \n\u200b ' }), never);
    expect(telegram.messages(chat).at(-1)?.text).toBe('…');
  });

  it('shows the buttons of an approval, reads the click, and removes the buttons after the decision', async () => {
    await using telegram = await startTelegram();
    const { ada, chat, client, place } = await openPrivate(telegram);
    const asked = post({ place, kind: 'approval', markdown: 'Run bash?', approval: APPROVAL });
    const id = await client.createPost(asked, never);
    const { receiver, state } = createReceiver();
    const stop = new AbortController();
    const connection = client.connect(receiver, stop.signal);
    telegram.click(ada, telegram.messages(chat).at(-1)!, 'Allow');
    await until('the click arrives', () => state.events.length === 1);
    stop.abort();
    await connection.catch(() => undefined);
    const parsed = parser.parse(state.events[0], IDENTITIES.telegram);
    expect(parsed).toMatchObject({
      outcome: 'event',
      event: {
        kind: 'action',
        decision: 'allow',
        approvalId: APPROVAL.approvalId,
        messageExternalId: id,
        senderId: String(ada.id),
      },
    });
    const event = 'event' in parsed && parsed.event ? parsed.event : inboundEvent({});
    await client.answer(event, 'Allowed by **Ada**.', never);
    expect(telegram.answered).toMatchObject([{ text: 'Allowed by Ada.', showAlert: true }]);
    // A second answer is too late, which is no failure.
    await client.answer(event, '', never);
    const decided = { ...APPROVAL, decision: 'allowed', decidedBy: 'Ada' };
    await client.editPost(id, { ...asked, markdown: 'Allowed by Ada.', approval: decided }, never);
    expect(telegram.messages(chat).at(-1)?.reply_markup).toBeUndefined();
  });

  it('posts into the topic of a forum', async () => {
    await using telegram = await startTelegram();
    const ada = telegram.createUser({ firstName: 'Ada' });
    const chat = telegram.createSupergroup('Operations', [ada], { isForum: true });
    const topic = telegram.createTopic(chat, 'Deploys', ada);
    const client = await openTelegramClient(telegram);
    await client.createPost(post({ place: groupPlace(chat.id, topic) }), never);
    expect(telegram.messages(chat, topic).map(({ text }) => text)).toEqual(['Hello']);
  });

  it('replies to a message of a group, also after it was deleted, with its topic', async () => {
    await using telegram = await startTelegram();
    const ada = telegram.createUser({ firstName: 'Ada' });
    const chat = telegram.createSupergroup('Operations', [ada], { isForum: true });
    const topic = telegram.createTopic(chat, 'Deploys', ada);
    const client = await openTelegramClient(telegram);
    const question = telegram.post({ from: ada, chat, topic, text: 'Is it up?' });
    const place = groupPlace(chat.id, topic);
    const reply = (id: number) => ({ messageId: String(id), place: place.place });
    await client.createPost(post({ place, replyTo: reply(question.message_id) }), never);
    await client.createPost(post({ place, replyTo: reply(999_999) }), never);
    const answers = telegram.messages(chat, topic).slice(1);
    expect(answers.map((one) => one.reply_to_message?.message_id)).toEqual([question.message_id, topic]);
  });

  it('follows a group that has become a supergroup', async () => {
    await using telegram = await startTelegram();
    const ada = telegram.createUser({ firstName: 'Ada' });
    const group = telegram.createGroup('Operations', [ada]);
    const client = await openTelegramClient(telegram);
    const place = groupPlace(group.id);
    const before = await client.createPost(post({ place }), never);
    const supergroup = telegram.upgrade(group);
    await expect(client.editPost(before, post({ place, markdown: 'Later' }), never)).rejects.toMatchObject({
      kind: 'missing',
    });
    const after = await client.createPost(
      post({ place, markdown: 'One', replyTo: { messageId: '1', place: place.place } }),
      never,
    );
    await client.editPost(after, post({ place, markdown: 'Two' }), never);
    await client.createPost(post({ place, markdown: 'Three' }), never);
    const moved = { ...place, place: String(supergroup.id) };
    expect(client.movedPlace?.(place)).toEqual({ place: moved, reason: '' });
    expect(client.movedPlace?.(moved)).toBeUndefined();
    await client.editPost(after, post({ place: moved, markdown: 'Two' }), never);
    expect(telegram.messages(supergroup).map(({ text }) => text)).toEqual(['Two', 'Three']);
  });
});

describe('private notices in Telegram', () => {
  const LINK = 'Connect your account: https://agents.example.com/link/one-time-code';

  it('reach a person in a group by a direct message', async () => {
    await using telegram = await startTelegram();
    const { ada, chat, client } = await openPrivate(telegram);
    const group = telegram.createGroup('Operations', [ada]);
    const notice = { kind: 'notice' as const, markdown: LINK, privateTo: String(ada.id) };
    expect(await client.createPost(post({ place: groupPlace(group.id), ...notice }), never)).toBe('');
    expect(telegram.messages(chat).map(({ text }) => text)).toEqual([LINK]);
    expect(telegram.messages(group)).toEqual([]);
  });

  it('never show their text in the group, if the person has not started or has blocked the bot', async () => {
    await using telegram = await startTelegram();
    const { ada, chat, client } = await openPrivate(telegram);
    const eve = telegram.createUser({ firstName: 'Eve' });
    const group = telegram.createGroup('Operations', [ada, eve]);
    telegram.bar(telegram.bot, chat);
    for (const { id } of [eve, ada]) {
      const notice = { kind: 'notice' as const, markdown: LINK, privateTo: String(id) };
      await client.createPost(post({ place: groupPlace(group.id), ...notice }), never);
    }
    const texts = telegram.messages(group).map(({ text }) => text ?? '');
    expect(texts).toHaveLength(2);
    expect(texts.join()).not.toContain('one-time-code');
    expect(texts[0]).toContain(`Open a chat with @${telegram.bot.user.username}, press Start`);
    await client.answer(inboundEvent({ answerToken: '1', senderId: String(eve.id) }), LINK, never);
    const answers = requestsOf(telegram, 'answerCallbackQuery').map(({ parameters }) => parameters.text);
    expect(answers).toEqual([expect.stringContaining('press Start')]);
  });

  it('with an address are sent as a message when they answer a click', async () => {
    await using telegram = await startTelegram();
    const { ada, chat, client } = await openPrivate(telegram);
    await client.answer(inboundEvent({ answerToken: '1', senderId: String(ada.id) }), LINK, never);
    expect(telegram.messages(chat).map(({ text }) => text)).toEqual([LINK]);
    expect(requestsOf(telegram, 'answerCallbackQuery')[0]?.parameters.text).not.toContain('one-time-code');
  });
});

describe('failures of Telegram', () => {
  it('are reported by kind, and each request is sent once', async () => {
    await using telegram = await startTelegram();
    const { chat, client, place } = await openPrivate(telegram);
    telegram.faults.enqueue(
      'sendMessage',
      { kind: 'rate_limited', retryAfterSeconds: 9 },
      { kind: 'server_error', status: 502 },
      { kind: 'applied_then_cut' },
    );
    const create = () => client.createPost(post({ place }), never);
    await expect(create()).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: 9_000 });
    await expect(create()).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(create()).rejects.toMatchObject({ kind: 'ambiguous' });
    expect(requestsOf(telegram, 'sendMessage')).toHaveLength(3);
    expect(telegram.messages(chat)).toHaveLength(1);
    telegram.bar(telegram.bot, chat);
    await expect(create()).rejects.toMatchObject({
      kind: 'refused',
      message: 'Telegram: Forbidden: bot was blocked by the user',
    });
    telegram.revokeToken(telegram.bot);
    await expect(create()).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  it('never name the token, also when no connection can be made', async () => {
    await using telegram = await startTelegram();
    const client = await openTelegramClient(telegram, { apiUrl: 'http://127.0.0.1:1' });
    const error: unknown = await client.me(never).catch((cause: unknown) => cause);
    expect(error).toMatchObject({
      kind: 'unavailable',
      message: 'Telegram cannot be reached: ECONNREFUSED.',
    });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(telegram.bot.token);
    expect((error as Error).cause).toBeUndefined();
  });

  it('end with the reason of the signal when the caller gives up', async () => {
    await using telegram = await startTelegram();
    const client = await openTelegramClient(telegram);
    const stop = new AbortController();
    const connection = client.connect(createReceiver().receiver, stop.signal);
    await until('the bot polls', () => requestsOf(telegram, 'getUpdates').length === 2);
    stop.abort(new Error('the lease is lost'));
    await expect(connection).rejects.toThrow('the lease is lost');
  });
});

describe('files of Telegram', () => {
  const bytesOf = async (content: AsyncIterable<Uint8Array>) => (await buffer(content)).toString();

  it('are uploaded with their names', async () => {
    await using telegram = await startTelegram();
    const { chat, client, place } = await openPrivate(telegram);
    const content = Buffer.from('quarterly figures');
    async function* read() {
      yield content.subarray(0, 5);
      yield content.subarray(5);
    }
    const file = {
      postId: 'pst_1',
      place,
      name: 'a "b"; c\r\n.txt',
      mediaType: 'text/plain',
      size: 17,
      read,
    };
    const id = await client.uploadFile(file, never);
    const message = telegram.messages(chat).at(-1);
    expect(String(message?.message_id)).toBe(id);
    expect(message?.document?.file_name).toBe('a _b__ c__.txt');
    expect(Buffer.from(telegram.files.get(message!.document!.file_id).bytes).toString()).toBe(
      'quarterly figures',
    );
    const tooLarge = { ...file, size: 50_000_001 };
    await expect(client.uploadFile(tooLarge, never)).rejects.toMatchObject({ kind: 'refused' });
    await expect(client.uploadFile({ ...file, size: 0 }, never)).rejects.toMatchObject({ kind: 'refused' });
    async function* broken(): AsyncIterable<Uint8Array> {
      yield content;
      throw new Error('the workspace is away');
    }
    const failing = client.uploadFile({ ...file, read: broken }, never);
    await expect(failing).rejects.toMatchObject({ kind: 'unavailable' });
    expect(telegram.messages(chat)).toHaveLength(1);
  });

  it('are downloaded up to the limit', async () => {
    await using telegram = await startTelegram();
    const { ada, chat, client } = await openPrivate(telegram);
    const sent = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('0123456789') };
    const { document } = telegram.post({ from: ada, chat, file: sent });
    const file = inboundFile({ fileId: document!.file_id, name: 'a.txt' });
    expect(await bytesOf(await client.downloadFile(file, never))).toBe('0123456789');
    const limited = await openTelegramClient(telegram, { fileMaxBytes: 9 });
    await expect(limited.downloadFile(file, never)).rejects.toMatchObject({ kind: 'too_large' });
    const large = inboundFile({ fileId: 'x', size: 21 * 1024 * 1024 });
    await expect(client.downloadFile(large, never)).rejects.toMatchObject({ kind: 'too_large' });
    telegram.files.forget(document!.file_id);
    await expect(client.downloadFile(file, never)).rejects.toMatchObject({ kind: 'gone' });
  });
});
