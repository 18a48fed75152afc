import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Bot, GrammyError, InlineKeyboard, InputFile, webhookCallback } from 'grammy';
import { describe, expect, it } from 'vitest';
import { startTelegram, type Telegram } from '../../support/products/telegram/server.ts';
import { until } from '../../support/wait.ts';

/** A bot of grammY that answers text, commands, clicks and files. */
function createEchoBot({ apiUrl, bot: { token } }: Telegram): Bot {
  const bot = new Bot(token, { client: { apiRoot: apiUrl } });
  bot.command('start', (context) =>
    context.reply('<b>Welcome</b>', {
      parse_mode: 'HTML',
      reply_markup: new InlineKeyboard().text('Allow', 'apr_1:allow').text('Deny', 'apr_1:deny'),
    }),
  );
  bot.callbackQuery(/:(allow|deny)$/, async (context) => {
    await context.editMessageText(`${context.from.first_name} chose ${context.match[1]}`);
    await context.answerCallbackQuery({ text: 'Recorded' });
  });
  bot.on('message:document', async (context) => {
    const { file_path } = await context.getFile();
    const response = await fetch(`${apiUrl}/file/bot${token}/${file_path}`);
    const text = (await response.text()).toUpperCase();
    await context.replyWithDocument(new InputFile(Buffer.from(text), 'upper case.txt'), { caption: 'done' });
  });
  bot.on('message:text', (context) =>
    context.reply(`echo: ${context.msg.text}`, {
      reply_parameters: { message_id: context.msg.message_id },
    }),
  );
  return bot;
}

/** Starts long polling and returns a function that stops it. */
function startPolling(bot: Bot): AsyncDisposable {
  const running = bot.start({ timeout: 5 });
  return {
    async [Symbol.asyncDispose]() {
      await bot.stop();
      await running;
    },
  };
}

async function serveWebhook(bot: Bot, secretToken: string): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(webhookCallback(bot, 'http', { secretToken }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function privateChat(telegram: Telegram) {
  const ada = telegram.createUser({ firstName: 'Ada' });
  const chat = telegram.privateChat(ada);
  const texts = () => telegram.messages(chat).map(({ text, caption }) => text ?? caption);
  return { ada, chat, texts, post: (text: string) => telegram.post({ from: ada, chat, text }) };
}

describe('Bot of grammY with long polling', () => {
  it('answers commands, clicks, text and files', async () => {
    await using telegram = await startTelegram();
    const bot = createEchoBot(telegram);
    const { ada, chat, texts, post } = privateChat(telegram);
    await using _ = startPolling(bot);
    post('/start');
    await until('the bot welcomes', () => texts().includes('Welcome'));
    telegram.click(ada, telegram.messages(chat)[1]!, 'Allow');
    await until('the click is answered', () => telegram.answered.length === 1);
    expect(texts()).toEqual(['/start', 'Ada chose allow']);
    expect(telegram.messages(chat)[1]?.reply_markup).toBeUndefined();
    post('hello');
    await until('the text is answered', () => texts().includes('echo: hello'));
    const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('text') };
    telegram.post({ from: ada, chat, file });
    await until('the file is answered', () => texts().includes('done'));
    const { document } = telegram.messages(chat).at(-1)!;
    expect(document?.file_name).toBe('upper case.txt');
    expect(Buffer.from(telegram.files.get(document!.file_id).bytes).toString()).toBe('TEXT');
  });

  it('hears its commands and mentions in a group and answers in the topic', async () => {
    await using telegram = await startTelegram();
    const bot = createEchoBot(telegram);
    const ada = telegram.createUser({ firstName: 'Ada' });
    const chat = telegram.createSupergroup('Operations', [ada], { isForum: true });
    const topic = telegram.createTopic(chat, 'Deploys', ada);
    await using _ = startPolling(bot);
    telegram.post({ from: ada, chat, topic, text: 'small talk' });
    telegram.post({ from: ada, chat, topic, text: `/start@${telegram.bot.user.username}` });
    await until('the bot answers in the topic', () => telegram.messages(chat, topic).length === 3);
    expect(telegram.messages(chat, topic).at(-1)?.text).toBe('Welcome');
  });

  it('receives an update again whose answer was cut off, and waits as told by 429', async () => {
    await using telegram = await startTelegram();
    const { faults } = telegram;
    const { texts, post } = privateChat(telegram);
    faults.enqueue('getMe', { kind: 'server_error', status: 502 });
    faults.enqueue('getUpdates', { kind: 'rate_limited', retryAfterSeconds: 1 });
    faults.enqueue('getUpdates', { kind: 'applied_then_cut' });
    post('one');
    await using _ = startPolling(createEchoBot(telegram));
    await until('the update is answered', () => texts().includes('echo: one'));
    expect(texts()).toEqual(['one', 'echo: one']);
  });

  it('stops with 401 for a revoked token and with 409 beside another instance', async () => {
    await using telegram = await startTelegram();
    const first = createEchoBot(telegram).start();
    await until('the first bot polls', () => telegram.requests.some(({ method }) => method === 'getUpdates'));
    const second = createEchoBot(telegram);
    const running = second.start({ timeout: 5 });
    await expect(first).rejects.toMatchObject({ error_code: 409 });
    await second.stop();
    await running;
    const revoked = createEchoBot(telegram);
    telegram.revokeToken(telegram.bot);
    await expect(revoked.start()).rejects.toMatchObject({ error_code: 401, description: 'Unauthorized' });
  });

  it('surfaces refusals with their description and parameters', async () => {
    await using telegram = await startTelegram();
    const { faults } = telegram;
    const { api } = createEchoBot(telegram);
    const { chat } = privateChat(telegram);
    const broken = api.sendMessage(chat.id, '<b>a', { parse_mode: 'HTML' });
    await expect(broken).rejects.toBeInstanceOf(GrammyError);
    await expect(broken).rejects.toMatchObject({
      description: 'Bad Request: can\'t parse entities: Can\'t find end tag corresponding to start tag "b"',
    });
    faults.enqueue('sendMessage', { kind: 'rate_limited', retryAfterSeconds: 3 });
    await expect(api.sendMessage(chat.id, 'a')).rejects.toMatchObject({ parameters: { retry_after: 3 } });
  });
});

describe('Bot of grammY with a webhook', () => {
  it('answers pushes with the right secret token', async () => {
    await using telegram = await startTelegram();
    const bot = createEchoBot(telegram);
    const { texts, post } = privateChat(telegram);
    await using webhook = await serveWebhook(bot, 'right');
    await bot.api.setWebhook(webhook.url, { secret_token: 'right' });
    post('hello');
    await until('the text is answered', () => texts().includes('echo: hello'));
    await until('the push is confirmed', () => telegram.bot.updates.pending.length === 0);
    expect((await bot.api.getWebhookInfo()).pending_update_count).toBe(0);
  });

  it('refuses pushes with another secret token, which are sent again', async () => {
    await using telegram = await startTelegram();
    const bot = createEchoBot(telegram);
    const { texts, post } = privateChat(telegram);
    await using webhook = await serveWebhook(bot, 'right');
    await bot.api.setWebhook(webhook.url, { secret_token: 'wrong' });
    post('hello');
    await until('the push is repeated', () => telegram.bot.webhook.pushes[1]?.status === 401);
    await bot.api.setWebhook(webhook.url, { secret_token: 'right' });
    await until('the text is answered', () => texts().includes('echo: hello'));
  });

  it('sends its answer in the response to the push', async () => {
    await using telegram = await startTelegram();
    const client = {
      apiRoot: telegram.apiUrl,
      canUseWebhookReply: (method: string) => method === 'sendMessage',
    };
    const bot = new Bot(telegram.bot.token, { client });
    bot.on('message', (context) => context.reply('from the response'));
    const { texts, post } = privateChat(telegram);
    await using webhook = await serveWebhook(bot, 'right');
    await bot.api.setWebhook(webhook.url, { secret_token: 'right' });
    post('hello');
    await until('the text is answered', () => texts().includes('from the response'));
  });
});
