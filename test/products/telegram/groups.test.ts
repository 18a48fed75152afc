import type { Update } from 'grammy/types';
import { describe, expect, it } from 'vitest';
import { startTelegram } from '../../support/products/telegram/server.ts';
import type { TelegramPost } from '../../support/products/telegram/world.ts';
import { callMethod, refusalOf } from './bot-api.ts';

async function startWithGroup(options: { isForum?: boolean } = {}) {
  const telegram = await startTelegram();
  const other = telegram.createBot({ username: 'other_bot' });
  const ada = telegram.createUser({ firstName: 'Ada', username: 'ada' });
  const group = telegram.createSupergroup('Operations', [ada], options);
  const post = (text: string, more: Partial<TelegramPost> = {}) =>
    telegram.post({ from: ada, chat: group, text, ...more });
  const send = async (parameters: Record<string, unknown>) =>
    (await callMethod(telegram, 'sendMessage', { chat_id: group.id, ...parameters })).result;
  const received = (): Update[] => [...telegram.bot.updates.pending];
  return {
    ...{ telegram, other, ada, group, post, send, received },
    texts: () => received().map(({ message }) => message?.text),
    mention: `@${telegram.bot.user.username}`,
    [Symbol.asyncDispose]: () => telegram[Symbol.asyncDispose](),
  };
}

describe('Telegram groups with privacy mode', () => {
  it('deliver mentions, replies to the bot and commands that name it, and nothing else', async () => {
    await using system = await startWithGroup();
    const { telegram, group, post, send, mention, texts, other } = system;
    await send({ text: 'hello' });
    const [answer] = telegram.messages(group);
    post('small talk');
    post('@other_bot hello');
    post(`${mention} status?`);
    post('why?', { replyTo: answer });
    post(`/new${mention}`);
    post('/new@other_bot');
    expect(texts()).toEqual([`${mention} status?`, 'why?', `/new${mention}`]);
    expect(other.updates.pending.map(({ message }) => message?.text)).toEqual([
      '@other_bot hello',
      '/new@other_bot',
    ]);
  });

  it('deliver a command without a name to the bot that wrote last', async () => {
    await using telegram = await startTelegram();
    const other = telegram.createBot({ username: 'other_bot' });
    const ada = telegram.createUser({ firstName: 'Ada' });
    const chat = telegram.createGroup('Operations', [ada]);
    telegram.post({ from: ada, chat, text: '/status' });
    await callMethod(telegram, 'sendMessage', { chat_id: chat.id, text: 'a' });
    telegram.post({ from: ada, chat, text: '/stop' });
    expect(telegram.bot.updates.pending.map(({ message }) => message?.text)).toEqual(['/stop']);
    expect(other.updates.pending).toEqual([]);
  });

  it('deliver all messages to an administrator and to a bot without privacy mode', async () => {
    await using telegram = await startTelegram();
    const reader = telegram.createBot({ username: 'reader_bot', readsAllMessages: true });
    const ada = telegram.createUser({ firstName: 'Ada' });
    const chat = telegram.createGroup('Operations', [ada]);
    telegram.post({ from: ada, chat, text: 'one' });
    telegram.promote(telegram.bot, chat);
    telegram.post({ from: ada, chat, text: 'two' });
    expect(telegram.bot.updates.pending.map(({ message }) => message?.text)).toEqual(['two']);
    expect(reader.updates.pending.map(({ message }) => message?.text)).toEqual(['one', 'two']);
  });

  it('deliver no message of a bot to any bot', async () => {
    await using telegram = await startTelegram();
    const reader = telegram.createBot({ readsAllMessages: true });
    const chat = telegram.createGroup('Operations', []);
    await callMethod(telegram, 'sendMessage', { chat_id: chat.id, text: 'a' });
    expect([...telegram.bot.updates.pending, ...reader.updates.pending]).toEqual([]);
  });

  it('deliver an edited message as edited_message', async () => {
    await using system = await startWithGroup();
    const { telegram, post, mention, received } = system;
    telegram.edit(post(`${mention} one`), `${mention} two`);
    expect(received().map((update) => Object.keys(update)[1])).toEqual(['message', 'edited_message']);
    expect(received()[1]?.edited_message).toMatchObject({
      text: `${mention} two`,
      edit_date: expect.any(Number),
    });
    expect(received()[0]?.message?.text).toBe(`${mention} one`);
  });
});

describe('Telegram topics and replies', () => {
  it('mark a message in a topic and let it reply to the message that created the topic', async () => {
    await using system = await startWithGroup({ isForum: true });
    const { telegram, ada, group, post, mention, received } = system;
    const topic = telegram.createTopic(group, 'Deploys', ada);
    post(`${mention} go`, { topic });
    expect(received()[0]?.message).toMatchObject({
      message_thread_id: topic,
      is_topic_message: true,
      chat: { is_forum: true },
      reply_to_message: { message_id: topic, forum_topic_created: { name: 'Deploys' } },
    });
  });

  it('send to a topic and refuse an unknown one', async () => {
    await using system = await startWithGroup({ isForum: true });
    const { telegram, ada, group, send } = system;
    const topic = telegram.createTopic(group, 'Deploys', ada);
    expect(await send({ text: 'a', message_thread_id: topic })).toMatchObject({ is_topic_message: true });
    expect(telegram.messages(group, topic)).toHaveLength(1);
    expect(
      await refusalOf(telegram, 'sendMessage', { chat_id: group.id, text: 'a', message_thread_id: 77 }),
    ).toBe('Bad Request: message thread not found');
  });

  it('give replies in a supergroup without topics a thread id but no topic', async () => {
    await using system = await startWithGroup();
    const { telegram, group, post, send, received } = system;
    const { message_id } = (await send({ text: 'a' })) as { message_id: number };
    const reply = post('b', { replyTo: telegram.messages(group)[0] });
    post('c', { replyTo: { ...reply, from: telegram.bot.user } });
    expect(received().map(({ message }) => [message?.message_thread_id, message?.is_topic_message])).toEqual([
      [message_id, undefined],
      [message_id, undefined],
    ]);
  });

  it('contain no reply within a reply', async () => {
    await using system = await startWithGroup();
    const { telegram, group, post, send, received, mention } = system;
    await send({ text: 'a' });
    const reply = post('b', { replyTo: telegram.messages(group)[0] });
    post(`${mention} c`, { replyTo: reply });
    expect(received()[1]?.message?.reply_to_message).toMatchObject({ text: 'b' });
    expect(received()[1]?.message?.reply_to_message).not.toHaveProperty('reply_to_message');
  });

  it('count message ids per chat, so that two chats have equal ids', async () => {
    await using telegram = await startTelegram();
    const [ada, bob] = ['Ada', 'Bob'].map((firstName) => telegram.createUser({ firstName }));
    const ids = [ada!, bob!].map(
      (from) => telegram.post({ from, chat: telegram.privateChat(from), text: 'a' }).message_id,
    );
    expect(ids).toEqual([1, 1]);
  });
});

describe('Telegram group changes', () => {
  it('refuse requests to a group that became a supergroup with the new id', async () => {
    await using telegram = await startTelegram();
    const group = telegram.createGroup('Operations', []);
    const { id } = telegram.upgrade(group);
    expect(await callMethod(telegram, 'sendMessage', { chat_id: group.id, text: 'a' })).toMatchObject({
      status: 400,
      description: 'Bad Request: group chat was upgraded to a supergroup chat',
      parameters: { migrate_to_chat_id: id },
    });
    expect((await callMethod(telegram, 'sendMessage', { chat_id: id, text: 'a' })).ok).toBe(true);
  });

  it('refuse requests of a bot that was removed', async () => {
    await using telegram = await startTelegram();
    const group = telegram.createSupergroup('Operations', []);
    telegram.bar(telegram.bot, group);
    expect(await refusalOf(telegram, 'sendMessage', { chat_id: group.id, text: 'a' })).toBe(
      'Forbidden: bot was kicked from the supergroup chat',
    );
  });
});
