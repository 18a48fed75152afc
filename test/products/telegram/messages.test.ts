import { describe, expect, it } from 'vitest';
import { startTelegram, type Telegram } from '../../support/products/telegram/server.ts';
import { callMethod, refusalOf } from './bot-api.ts';

async function startWithChat(options?: Parameters<typeof startTelegram>[0]) {
  const telegram = await startTelegram(options);
  const ada = telegram.createUser({ firstName: 'Ada', username: 'ada' });
  const chat = telegram.privateChat(ada);
  const send = (parameters: Record<string, unknown>, method = 'sendMessage') =>
    callMethod(telegram, method, { chat_id: chat.id, ...parameters });
  return { telegram, ada, chat, send, [Symbol.asyncDispose]: () => telegram[Symbol.asyncDispose]() };
}

const textsOf = (telegram: Telegram, chat: Parameters<Telegram['messages']>[0]) =>
  telegram.messages(chat).map(({ text }) => text);

describe('Telegram sendMessage', () => {
  it('returns the message with its entities and shows it in the chat', async () => {
    await using system = await startWithChat();
    const { telegram, chat, send } = system;
    const { result } = await send({ text: '<b>Done</b>: /status', parse_mode: 'HTML' });
    expect(result).toMatchObject({
      message_id: 1,
      from: { id: telegram.bot.user.id, is_bot: true },
      chat: { id: chat.id, type: 'private' },
      text: 'Done: /status',
      entities: [{ type: 'bold' }, { type: 'bot_command' }],
    });
    expect(telegram.messages(chat)).toEqual([result]);
  });

  it('sends a repeated request as a second message', async () => {
    await using system = await startWithChat();
    await system.send({ text: 'a' });
    await system.send({ text: 'a' });
    expect(textsOf(system.telegram, system.chat)).toEqual(['a', 'a']);
  });

  it('accepts 4096 characters after the entities are parsed and refuses one more', async () => {
    await using system = await startWithChat();
    const { send } = system;
    expect((await send({ text: `<b>${'&lt;'.repeat(4096)}</b>`, parse_mode: 'HTML' })).ok).toBe(true);
    expect(await send({ text: 'a'.repeat(4097) })).toMatchObject({
      status: 400,
      ok: false,
      error_code: 400,
      description: 'Bad Request: message is too long',
    });
  });

  it('refuses text that is empty after trimming', async () => {
    await using system = await startWithChat();
    expect((await system.send({ text: ' <b> </b>', parse_mode: 'HTML' })).description).toBe(
      'Bad Request: message text is empty',
    );
  });

  it('refuses callback data of more than 64 bytes and buttons without an action', async () => {
    await using system = await startWithChat();
    const withButton = async (button: object) =>
      (await system.send({ text: 'a', reply_markup: { inline_keyboard: [[button]] } })).description;
    expect(await withButton({ text: 'A', callback_data: 'ä'.repeat(32) })).toBeUndefined();
    expect(await withButton({ text: 'A', callback_data: 'ä'.repeat(33) })).toBe(
      'Bad Request: BUTTON_DATA_INVALID',
    );
    expect(await withButton({ text: 'A' })).toBe(
      "Bad Request: can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
    );
  });

  it('refuses a reply to an unknown message unless the request allows sending without reply', async () => {
    await using system = await startWithChat();
    const { ada, chat, telegram, send } = system;
    const { message_id } = telegram.post({ from: ada, chat, text: 'question' });
    const reply = (id: number, more = {}) =>
      send({ text: 'a', reply_parameters: { message_id: id, ...more } });
    expect((await reply(message_id)).result).toMatchObject({ reply_to_message: { text: 'question' } });
    expect((await reply(99)).description).toBe('Bad Request: message to be replied not found');
    expect((await reply(99, { allow_sending_without_reply: true })).ok).toBe(true);
  });

  it('refuses unknown chats, users who did not start the bot, and users who blocked it', async () => {
    await using system = await startWithChat();
    const { telegram, chat, send } = system;
    const bob = telegram.createUser({ firstName: 'Bob' });
    telegram.createGroup('Ops', [bob]);
    expect((await send({ chat_id: 5, text: 'a' })).description).toBe('Bad Request: chat not found');
    expect((await send({ chat_id: bob.id, text: 'a' })).description).toBe(
      "Forbidden: bot can't initiate conversation with a user",
    );
    telegram.bar(telegram.bot, chat);
    expect(await send({ text: 'a' })).toMatchObject({
      status: 403,
      description: 'Forbidden: bot was blocked by the user',
    });
  });

  it('refuses messages beyond the limit of a chat with 429 and the seconds to wait', async () => {
    await using system = await startWithChat({ messagesPerSecond: 1 });
    await system.send({ text: 'a' });
    expect(await system.send({ text: 'b' })).toEqual({
      status: 429,
      ok: false,
      error_code: 429,
      description: 'Too Many Requests: retry after 1',
      parameters: { retry_after: 1 },
    });
  });
});

describe('Telegram editMessageText', () => {
  it('replaces text and keyboard, and removes a keyboard that the request omits', async () => {
    await using system = await startWithChat();
    const { telegram, chat, send } = system;
    const keyboard = { inline_keyboard: [[{ text: 'Allow', callback_data: 'a' }]] };
    const { result } = await send({ text: 'one', reply_markup: keyboard });
    const { message_id } = result as { message_id: number };
    expect(
      (await send({ message_id, text: 'two', reply_markup: keyboard }, 'editMessageText')).result,
    ).toMatchObject({
      text: 'two',
      reply_markup: keyboard,
      edit_date: expect.any(Number),
    });
    await send({ message_id, text: 'two' }, 'editMessageText');
    expect(telegram.messages(chat)[0]?.reply_markup).toBeUndefined();
  });

  it('refuses the same text and keyboard as not modified', async () => {
    await using system = await startWithChat();
    await system.send({ text: '<b>a</b>', parse_mode: 'HTML' });
    const edit = { message_id: 1, text: ' <strong>a</strong>', parse_mode: 'HTML' };
    expect((await system.send(edit, 'editMessageText')).description).toMatch(
      /^Bad Request: message is not modified: specified new message content/,
    );
    expect((await system.send({ message_id: 1 }, 'editMessageReplyMarkup')).description).toMatch(
      /^Bad Request: message is not modified/,
    );
  });

  it('refuses unknown messages and those of users', async () => {
    await using system = await startWithChat();
    const { telegram, ada, chat, send } = system;
    const { message_id } = telegram.post({ from: ada, chat, text: 'mine' });
    expect((await send({ message_id, text: 'a' }, 'editMessageText')).description).toBe(
      "Bad Request: message can't be edited",
    );
    expect((await send({ message_id: 99, text: 'a' }, 'editMessageText')).description).toBe(
      'Bad Request: message to edit not found',
    );
  });
});

describe('Telegram files', () => {
  it('accepts a document as a form and serves it below the path of getFile', async () => {
    await using system = await startWithChat();
    const { telegram, chat } = system;
    const form = new FormData();
    form.set('chat_id', String(chat.id));
    form.set('caption', 'the report');
    form.set('document', new Blob(['a,b'], { type: 'text/csv' }), 'report ä.csv');
    const base = `${telegram.apiUrl}/bot${telegram.bot.token}`;
    await fetch(`${base}/sendDocument`, { method: 'POST', body: form });
    const [message] = telegram.messages(chat);
    expect(message).toMatchObject({
      caption: 'the report',
      document: { file_name: 'report ä.csv', mime_type: 'text/csv', file_size: 3 },
    });
    const { result } = await callMethod(telegram, 'getFile', { file_id: message?.document?.file_id });
    const { file_path } = result as { file_path: string };
    const file = `${telegram.apiUrl}/file/bot${telegram.bot.token}/${file_path}`;
    expect(await (await fetch(file)).text()).toBe('a,b');
    expect((await fetch(file.replace(telegram.bot.token, '1:a'))).status).toBe(401);
  });

  it('refuses getFile for more than 20 MiB and for a file that is gone', async () => {
    await using system = await startWithChat();
    const { telegram, ada, chat } = system;
    const bytes = Buffer.alloc(20 * 1024 * 1024 + 1);
    const { document } = telegram.post({
      from: ada,
      chat,
      file: { name: 'a.bin', type: 'application/x', bytes },
    });
    const getFile = () => refusalOf(telegram, 'getFile', { file_id: document?.file_id });
    expect(await getFile()).toBe('Bad Request: file is too big');
    telegram.files.forget(document?.file_id ?? '');
    expect(await getFile()).toBe('Bad Request: wrong file_id or the file is temporarily unavailable');
  });

  it('names foreign paths and addresses of files, and fails downloads, as a test asks', async () => {
    await using system = await startWithChat();
    const { telegram, ada, chat } = system;
    const bytes = Buffer.from('text');
    const { document } = telegram.post({ from: ada, chat, file: { name: 'a', type: 'text/plain', bytes } });
    const { file_id, path } = telegram.files.get(document!.file_id);
    const download = () =>
      fetch(`${telegram.apiUrl}/file/bot${telegram.bot.token}/${path}`, { redirect: 'manual' });
    telegram.faults.enqueue('download', { kind: 'server_error', status: 502 }, { kind: 'applied_then_cut' });
    expect((await download()).status).toBe(502);
    await expect(download()).rejects.toThrow('fetch failed');
    Object.assign(telegram.overrides, { filePath: '../secret', downloadLocation: 'http://127.0.0.1:9/' });
    expect((await callMethod(telegram, 'getFile', { file_id })).result).toMatchObject({
      file_path: '../secret',
    });
    expect((await download()).headers.get('location')).toBe('http://127.0.0.1:9/');
  });

  it('delivers a photo with its thumbnail first', async () => {
    await using system = await startWithChat();
    const { telegram, ada, chat } = system;
    const bytes = Buffer.alloc(1000);
    telegram.post({ from: ada, chat, file: { name: '', type: 'image/jpeg', bytes, isPhoto: true } });
    const sizes = telegram.bot.updates.pending[0]?.message?.photo?.map(({ file_size }) => file_size);
    expect(sizes).toEqual([9, 1000]);
  });
});

describe('Telegram methods', () => {
  it('answers 401 for a wrong or revoked token and 404 for an unknown method', async () => {
    await using system = await startWithChat();
    const { telegram } = system;
    expect(await callMethod(telegram, 'noMethod')).toMatchObject({ status: 404, description: 'Not Found' });
    const bot = { ...telegram.bot };
    telegram.revokeToken(telegram.bot);
    expect(await callMethod({ ...telegram, bot }, 'getMe')).toEqual({
      status: 401,
      ok: false,
      error_code: 401,
      description: 'Unauthorized',
    });
  });

  it('reads parameters from the query, from forms and from JSON, and ignores the case of methods', async () => {
    await using system = await startWithChat();
    const { telegram, chat } = system;
    const url = `${telegram.apiUrl}/bot${telegram.bot.token}/SENDMESSAGE`;
    await fetch(`${url}?chat_id=${chat.id}&text=a`);
    const body = new URLSearchParams({ chat_id: String(chat.id), text: 'b' });
    await fetch(url, { method: 'POST', body });
    await callMethod(telegram, 'sendmessage', { chat_id: chat.id, text: 'c' });
    expect(textsOf(telegram, chat)).toEqual(['a', 'b', 'c']);
    expect(telegram.requests.map(({ method }) => method)).toEqual(Array(3).fill('sendMessage'));
  });

  it('stores commands by scope and language', async () => {
    await using system = await startWithChat();
    const { telegram } = system;
    const commands = [{ command: 'new', description: 'New session' }];
    const scope = { type: 'all_private_chats' };
    await callMethod(telegram, 'setMyCommands', { commands, scope });
    expect((await callMethod(telegram, 'getMyCommands', { scope })).result).toEqual(commands);
    expect((await callMethod(telegram, 'getMyCommands')).result).toEqual([]);
    await callMethod(telegram, 'deleteMyCommands', { scope });
    expect((await callMethod(telegram, 'getMyCommands', { scope })).result).toEqual([]);
    expect(
      await refusalOf(telegram, 'setMyCommands', { commands: [{ command: 'New!', description: 'a' }] }),
    ).toBe('Bad Request: BOT_COMMAND_INVALID');
  });

  it('answers a click once', async () => {
    await using system = await startWithChat();
    const { telegram, ada, chat, send } = system;
    const keyboard = { inline_keyboard: [[{ text: 'Allow', callback_data: 'apr_1' }]] };
    await send({ text: 'May I?', reply_markup: keyboard });
    const [message] = telegram.messages(chat);
    const id = telegram.click(ada, message!, 'Allow');
    expect(telegram.bot.updates.pending.at(-1)?.callback_query).toMatchObject({
      id,
      data: 'apr_1',
      from: ada,
    });
    const answer = { callback_query_id: id, text: 'Allowed', show_alert: true };
    expect((await callMethod(telegram, 'answerCallbackQuery', answer)).result).toBe(true);
    expect(telegram.answered).toEqual([{ queryId: id, text: 'Allowed', showAlert: true }]);
    expect(await refusalOf(telegram, 'answerCallbackQuery', answer)).toBe(
      'Bad Request: query is too old and response timeout expired or query ID is invalid',
    );
  });

  it('describes the bot and its chats', async () => {
    await using system = await startWithChat();
    const { telegram, chat } = system;
    expect((await callMethod(telegram, 'getMe')).result).toEqual(telegram.bot.user);
    expect((await callMethod(telegram, 'getChat', { chat_id: chat.id })).result).toMatchObject(chat);
    expect(await refusalOf(telegram, 'sendChatAction', { chat_id: chat.id, action: 'thinking' })).toBe(
      'Bad Request: wrong parameter action in request',
    );
  });
});
