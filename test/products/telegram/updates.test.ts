import type { Update } from 'grammy/types';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { startTelegram, type Telegram } from '../../support/products/telegram/server.ts';
import { until } from '../../support/wait.ts';
import { callMethod } from './bot-api.ts';

function postAll(telegram: Telegram, ...texts: string[]): void {
  const ada = telegram.createUser({ firstName: 'Ada' });
  const chat = telegram.privateChat(ada);
  for (const text of texts) telegram.post({ from: ada, chat, text });
}

async function poll(telegram: Telegram, parameters: Record<string, unknown> = {}): Promise<Update[]> {
  return (await callMethod(telegram, 'getUpdates', parameters)).result as Update[];
}

const textsOf = (updates: Update[]) => updates.map(({ message }) => message?.text);

describe('Telegram getUpdates', () => {
  it('returns updates again until a higher offset confirms them', async () => {
    await using telegram = await startTelegram();
    postAll(telegram, 'a', 'b', 'c');
    const updates = await poll(telegram);
    expect(textsOf(updates)).toEqual(['a', 'b', 'c']);
    expect(textsOf(await poll(telegram, { limit: 2 }))).toEqual(['a', 'b']);
    const [first, second] = updates.map(({ update_id }) => update_id);
    expect(second).toBe(first! + 1);
    expect(textsOf(await poll(telegram, { offset: second }))).toEqual(['b', 'c']);
    expect(textsOf(await poll(telegram, { offset: 0 }))).toEqual(['b', 'c']);
    expect(telegram.bot.updates.pending).toHaveLength(2);
  });

  it('keeps only the last updates for a negative offset', async () => {
    await using telegram = await startTelegram();
    postAll(telegram, 'a', 'b', 'c');
    expect(textsOf(await poll(telegram, { offset: -1 }))).toEqual(['c']);
    expect(textsOf(await poll(telegram))).toEqual(['c']);
  });

  it('waits for an update and returns an empty list after the timeout', async () => {
    const clock = createFakeClock();
    await using telegram = await startTelegram({ clock });
    const waiting = poll(telegram, { timeout: 30 });
    await until('the poll waits', () => clock.pending > 0);
    postAll(telegram, 'a');
    const [update] = await waiting;
    expect(update?.message?.text).toBe('a');
    const empty = poll(telegram, { offset: update!.update_id + 1, timeout: 30 });
    await until('the next poll waits', () => clock.pending > 0);
    clock.advance(30_000);
    expect(await empty).toEqual([]);
  });

  it('ends the first of two polls with 409', async () => {
    const clock = createFakeClock();
    await using telegram = await startTelegram({ clock });
    const first = callMethod(telegram, 'getUpdates', { timeout: 30 });
    await until('the first poll waits', () => clock.pending > 0);
    const second = poll(telegram, { timeout: 30 });
    expect(await first).toEqual({
      status: 409,
      ok: false,
      error_code: 409,
      description:
        'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
    });
    postAll(telegram, 'a');
    expect(textsOf(await second)).toEqual(['a']);
  });

  it('is refused with 409 while a webhook is set, which also ends a waiting poll', async () => {
    const clock = createFakeClock();
    await using telegram = await startTelegram({ clock });
    const waiting = callMethod(telegram, 'getUpdates', { timeout: 30 });
    await until('the poll waits', () => clock.pending > 0);
    await callMethod(telegram, 'setWebhook', { url: 'http://127.0.0.1:9/' });
    expect((await waiting).description).toBe('Conflict: terminated by setWebhook request');
    expect((await callMethod(telegram, 'getUpdates')).description).toBe(
      "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    );
    await callMethod(telegram, 'deleteWebhook');
    expect(await poll(telegram)).toEqual([]);
  });

  it('drops updates of types that the bot did not ask for and remembers the types', async () => {
    await using telegram = await startTelegram();
    await poll(telegram, { allowed_updates: ['callback_query'] });
    postAll(telegram, 'a');
    await poll(telegram);
    postAll(telegram, 'b');
    expect(await poll(telegram)).toEqual([]);
    await poll(telegram, { allowed_updates: [] });
    postAll(telegram, 'c');
    expect(textsOf(await poll(telegram))).toEqual(['c']);
  });

  it('returns updates again whose answer was cut off', async () => {
    await using telegram = await startTelegram();
    const { faults } = telegram;
    postAll(telegram, 'a');
    faults.enqueue('getUpdates', { kind: 'applied_then_cut' });
    await expect(poll(telegram)).rejects.toThrow('fetch failed');
    expect(textsOf(await poll(telegram))).toEqual(['a']);
  });
});

describe('Telegram faults', () => {
  it('refuses with 429 and with the texts of server errors, without effect', async () => {
    await using telegram = await startTelegram();
    const { faults } = telegram;
    postAll(telegram, 'a');
    const [chat_id] = telegram.bot.privateChats.keys();
    faults.enqueue(
      'sendMessage',
      { kind: 'rate_limited', retryAfterSeconds: 7 },
      { kind: 'server_error', status: 502 },
    );
    const send = () => callMethod(telegram, 'sendMessage', { chat_id, text: 'b' });
    expect(await send()).toMatchObject({ status: 429, parameters: { retry_after: 7 } });
    expect(await send()).toMatchObject({ status: 502, error_code: 502, description: 'Bad Gateway' });
    expect(await send()).toMatchObject({ status: 200, result: { message_id: 2 } });
    expect(telegram.requests.map(({ status }) => status)).toEqual([429, 502, 200]);
  });

  it('sends a message whose answer is cut off', async () => {
    await using telegram = await startTelegram();
    const { faults } = telegram;
    postAll(telegram, 'a');
    const [stored] = telegram.bot.privateChats.values();
    faults.enqueue('sendMessage', { kind: 'applied_then_cut' });
    const send = callMethod(telegram, 'sendMessage', { chat_id: stored!.chat.id, text: 'b' });
    await expect(send).rejects.toThrow('fetch failed');
    expect(telegram.messages(stored!.chat).map(({ text }) => text)).toEqual(['a', 'b']);
    expect(telegram.requests.at(-1)?.status).toBe('cut');
  });

  it('gives the same tokens and ids for the same seed', async () => {
    await using one = await startTelegram({ seed: 5 });
    await using same = await startTelegram({ seed: 5 });
    await using other = await startTelegram({ seed: 6 });
    expect(same.bot.token).toBe(one.bot.token);
    expect(other.bot.token).not.toBe(one.bot.token);
    expect(one.bot.token).toMatch(/^\d+:[A-Za-z0-9_-]{35}$/);
  });
});
