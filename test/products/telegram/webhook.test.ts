import type { Update } from 'grammy/types';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { type ProductResponse, startProductServer } from '../../support/products/http-server.ts';
import { startTelegram, type TelegramOptions } from '../../support/products/telegram/server.ts';
import { advanceUntil, until } from '../../support/wait.ts';
import { callMethod } from './bot-api.ts';

interface Received {
  update: Update;
  secret: unknown;
}

/** A server with a webhook and two private chats. */
async function startWithWebhook(respond: (count: number) => ProductResponse, options?: TelegramOptions) {
  const received: Received[] = [];
  const receiver = await startProductServer({
    handle({ body, headers }) {
      received.push({
        update: JSON.parse(body.toString()),
        secret: headers['x-telegram-bot-api-secret-token'],
      });
      return respond(received.length);
    },
  });
  const telegram = await startTelegram(options);
  const [ada, bob] = ['Ada', 'Bob'].map((firstName) => telegram.createUser({ firstName }));
  const post = (from: typeof ada, text: string) =>
    telegram.post({ from: from!, chat: telegram.privateChat(from!), text });
  await callMethod(telegram, 'setWebhook', { url: `${receiver.url}/hook`, secret_token: 'Se-cr_3t' });
  return {
    telegram,
    received,
    texts: () => received.map(({ update }) => update.message?.text),
    fromAda: (text: string) => post(ada, text),
    fromBob: (text: string) => post(bob, text),
    async [Symbol.asyncDispose]() {
      await telegram[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

const accept = (): ProductResponse => ({ status: 200 });

describe('Telegram webhooks', () => {
  it('pushes each update once with the secret token', async () => {
    await using system = await startWithWebhook(accept);
    system.fromAda('a');
    await until('the push is confirmed', () => system.telegram.bot.updates.pending.length === 0);
    expect(system.received).toEqual([
      {
        secret: 'Se-cr_3t',
        update: expect.objectContaining({ message: expect.objectContaining({ text: 'a' }) }),
      },
    ]);
  });

  it('repeats a refused update at once and then after 2 and 4 seconds', async () => {
    const clock = createFakeClock();
    await using system = await startWithWebhook((count) => ({ status: count < 4 ? 500 : 204 }), { clock });
    const start = clock.now().getTime();
    system.fromAda('a');
    const isDone = () => system.received.length === 4;
    await advanceUntil('the fourth push', () => clock.advance(250), isDone);
    expect(clock.now().getTime() - start).toBeGreaterThanOrEqual(6_000);
    expect(system.texts()).toEqual(['a', 'a', 'a', 'a']);
    await until('the pushes are recorded', () => system.telegram.bot.webhook.pushes[3]?.status);
    expect(system.telegram.bot.webhook.pushes.map(({ status }) => status)).toEqual([500, 500, 500, 204]);
  });

  it('keeps the order within a chat while an update is refused, and goes on in other chats', async () => {
    const clock = createFakeClock();
    let isDown = true;
    await using system = await startWithWebhook(() => ({ status: isDown ? 503 : 200 }), { clock });
    system.fromAda('a1');
    system.fromAda('a2');
    await until('the first update is refused', () => system.received.length >= 2);
    isDown = false;
    system.fromBob('b1');
    await until('the other chat is served', () => system.texts().includes('b1'));
    expect(system.texts()).not.toContain('a2');
    await advanceUntil(
      'the first chat is served',
      () => clock.advance(500),
      () => system.texts().includes('a2'),
    );
    expect(system.texts().filter((text) => text?.startsWith('a'))).toEqual(['a1', 'a1', 'a1', 'a2']);
  });

  it('reports the last error and the pending updates', async () => {
    await using system = await startWithWebhook(() => ({ status: 404 }));
    system.fromAda('a');
    const info = await until('an error is reported', async () => {
      const { result } = await callMethod(system.telegram, 'getWebhookInfo');
      return (result as { last_error_message?: string }).last_error_message && result;
    });
    expect(info).toMatchObject({
      url: expect.stringMatching(/\/hook$/),
      pending_update_count: 1,
      last_error_message: 'Wrong response from the webhook: 404 Not Found',
      max_connections: 40,
    });
  });

  it('executes the method in the response', async () => {
    const answer = { method: 'sendMessage', chat_id: 0, text: 'answer' };
    await using system = await startWithWebhook(() => ({ status: 200, body: JSON.stringify(answer) }));
    const { chat } = system.fromAda('a');
    answer.chat_id = chat.id;
    const messages = () => system.telegram.messages(chat as Parameters<typeof system.telegram.messages>[0]);
    await until('the answer is sent', () => messages().length === 2);
    expect(messages().at(-1)?.text).toBe('answer');
  });

  it('keeps updates for getUpdates when the webhook is deleted, unless they are dropped', async () => {
    await using system = await startWithWebhook(() => ({ status: 500 }));
    system.fromAda('a');
    await callMethod(system.telegram, 'deleteWebhook');
    expect((await callMethod(system.telegram, 'getUpdates')).result).toHaveLength(1);
    await callMethod(system.telegram, 'deleteWebhook', { drop_pending_updates: true });
    expect((await callMethod(system.telegram, 'getUpdates')).result).toEqual([]);
  });

  it('refuses plain HTTP outside of loopback and secret tokens of other characters', async () => {
    await using telegram = await startTelegram();
    const problem = async (parameters: object) =>
      (await callMethod(telegram, 'setWebhook', { url: 'https://example.org/', ...parameters })).description;
    expect(await problem({ url: 'http://example.org/' })).toBe(
      'Bad Request: bad webhook: An HTTPS URL must be provided for webhook',
    );
    expect(await problem({ secret_token: 'a b' })).toBe(
      'Bad Request: secret token contains unallowed characters',
    );
    expect(await problem({ secret_token: 'a'.repeat(257) })).toBe('Bad Request: secret token is too long');
  });

  it('pushes an accepted update again as the fault plan decides', async () => {
    await using system = await startWithWebhook(accept, { faults: { duplicate: 1 } });
    system.fromAda('a');
    await until('the update has arrived twice', () => system.received.length === 2);
    expect(system.texts()).toEqual(['a', 'a']);
  });

  it('lets a held push be overtaken by another chat', async () => {
    const clock = createFakeClock();
    await using system = await startWithWebhook(accept, { clock, faults: { reorder: 1 } });
    system.fromAda('a');
    await until('the push is held', () => clock.pending > 0);
    system.telegram.faults.stop();
    system.fromBob('b');
    await until('the other chat is served', () => system.received.length === 1);
    clock.advance(1_000);
    await until('both have arrived', () => system.received.length === 2);
    expect(system.texts()).toEqual(['b', 'a']);
  });
});
