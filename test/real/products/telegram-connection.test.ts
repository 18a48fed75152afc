import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ProductClient } from '../../../services/channels/products/product.ts';
import { telegram as parser } from '../../../services/deployments/channels/products/telegram/product.ts';
import { telegramVerifier } from '../../../services/deployments/channels/products/telegram/verify.ts';
import { IDENTITIES } from '../../services/deployments/channels/fixtures.ts';
import { startTelegram, type Telegram } from '../../support/products/telegram/server.ts';
import { until } from '../../support/wait.ts';
import { createReceiver, openTelegramClient } from './telegram-client.ts';

const never = new AbortController().signal;
const FOREIGN = 'https://other.example.com/secret-path';

function openChat(telegram: Telegram) {
  const ada = telegram.createUser({ firstName: 'Ada' });
  const chat = telegram.privateChat(ada);
  return { ada, chat, say: (text: string) => telegram.post({ from: ada, chat, text }) };
}

/** Calls the Bot API as another program does. */
async function callAs(telegram: Telegram, method: string, body: object) {
  const url = `${telegram.apiUrl}/bot${telegram.bot.token}/${method}`;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.json();
}

/** Connects until the signal aborts, and again after each failure, as the worker does. */
async function keepConnected(
  client: ProductClient,
  { receiver }: ReturnType<typeof createReceiver>,
  signal: AbortSignal,
) {
  while (!signal.aborted) await client.connect(receiver, signal).catch(() => undefined);
}

const textsOf = (events: readonly Record<string, unknown>[]) =>
  events.map((event) => {
    const parsed = parser.parse(event, IDENTITIES.telegram);
    return 'event' in parsed ? parsed.event?.text : parsed.outcome;
  });

describe('polling of Telegram', () => {
  it('confirms updates only after they are committed, and continues at the stored offset', async () => {
    await using telegram = await startTelegram();
    const { say } = openChat(telegram);
    const client = await openTelegramClient(telegram);
    const { receiver, state } = createReceiver();
    state.refusals = 1;
    say('one');
    await expect(client.connect(receiver, never)).rejects.toThrow('the database is away');
    expect(state).toMatchObject({ events: [], resumeState: undefined, connected: 1 });
    expect(telegram.bot.updates.pending).toHaveLength(1);

    const stop = new AbortController();
    const connection = keepConnected(client, { receiver, state }, stop.signal);
    await until('the update is committed and confirmed', () => telegram.bot.updates.pending.length === 0);
    say('two');
    await until('the second update is committed', () => state.events.length === 2);
    stop.abort();
    await connection;
    expect(textsOf(state.events)).toEqual(['one', 'two']);

    say('three');
    const next = createReceiver(state.resumeState);
    const again = new AbortController();
    const continued = keepConnected(client, next, again.signal);
    await until('only the third update arrives', () => next.state.events.length > 0);
    again.abort();
    await continued;
    expect(textsOf(next.state.events)).toEqual(['three']);
  });

  it('loses no update and keeps their order while requests fail at random', async () => {
    const faults = { rate429: 0.15, rate5xx: 0.2, appliedThenCut: 0.2 };
    await using telegram = await startTelegram({ seed: 22, faults });
    const { say } = openChat(telegram);
    const client = await openTelegramClient(telegram);
    const { receiver, state } = createReceiver();
    const stop = new AbortController();
    const connection = keepConnected(client, { receiver, state }, stop.signal);
    const sent = Array.from({ length: 40 }, (_, index) => `message ${index}`);
    for (const text of sent) {
      say(text);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await until('all updates are confirmed', () => telegram.bot.updates.pending.length === 0);
    stop.abort();
    await connection;
    // An update comes again when its confirmation is lost. The deliveries recognize it by its id.
    expect([...new Set(textsOf(state.events))]).toEqual(sent);
    expect(telegram.faults.injected.length).toBeGreaterThan(5);
  });

  it('fails with the reason when another program sets a webhook', async () => {
    await using telegram = await startTelegram();
    const client = await openTelegramClient(telegram);
    const { receiver } = createReceiver();
    await callAs(telegram, 'setWebhook', { url: FOREIGN });
    await expect(client.connect(receiver, never)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: expect.stringContaining('Another program has set a webhook'),
    });
    await client.register(never);
    expect(telegram.bot.webhook.settings).toBeUndefined();
  });

  it('fails with the reason when another program polls all the time', async () => {
    await using telegram = await startTelegram();
    const client = await openTelegramClient(telegram, { timeScale: 0.01 });
    let isPolling = true;
    const competitor = (async () => {
      while (isPolling) await callAs(telegram, 'getUpdates', { timeout: 1 });
    })();
    await expect(client.connect(createReceiver().receiver, never)).rejects.toMatchObject({
      kind: 'unauthorized',
      message: expect.stringContaining('Another program polls'),
    });
    isPolling = false;
    await competitor;
  });

  it('goes on after a single conflict', async () => {
    await using telegram = await startTelegram();
    const { say } = openChat(telegram);
    const client = await openTelegramClient(telegram, { timeScale: 0.01 });
    const { receiver, state } = createReceiver();
    const stop = new AbortController();
    const connection = client.connect(receiver, stop.signal);
    const polls = () => telegram.requests.filter(({ method }) => method === 'getUpdates').length;
    await until('the client polls', () => polls() === 2);
    await callAs(telegram, 'getUpdates', {});
    say('after the conflict');
    await until('the update is committed', () => state.events.length === 1);
    stop.abort();
    await expect(connection).rejects.toThrow();
    expect(state.connected).toBe(1);
  });
});

describe('registration at Telegram', () => {
  it('sets the webhook with its secret and the commands, and removes them', async () => {
    await using telegram = await startTelegram();
    const { say } = openChat(telegram);
    const verify = telegramVerifier({ webhook_secret: 'webhook-secret' });
    const faults: (string | undefined)[] = [];
    const callback = createServer((request, response) => {
      const headers = Object.entries(request.headers).map(([name, value]) => ({
        name,
        value: String(value),
      }));
      faults.push(verify({ headers, body: Buffer.alloc(0) }, new Date()));
      response.end();
    });
    await new Promise<void>((resolve) => callback.listen(0, '127.0.0.1', resolve));
    const callbackUrl = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`;
    const client = await openTelegramClient(telegram, { config: { mode: 'http' }, callbackUrl });
    expect(client.isReceiving).toBe(false);
    say('sent before the registration');
    await client.register(never);
    await client.register(never);
    await until('the update is pushed', () => telegram.bot.updates.pending.length === 0);
    expect(faults).toContain(undefined);
    expect(faults.filter(Boolean)).toEqual([]);
    expect(telegram.bot.updates.allowed).toEqual(['message', 'edited_message', 'callback_query']);
    const [commands] = telegram.bot.commands.values();
    expect(commands?.map(({ command }) => command)).toEqual([
      'new',
      'stop',
      'status',
      'link',
      'unlink',
      'help',
    ]);
    await client.unregister(never);
    await client.unregister(never);
    expect(telegram.bot.webhook.settings).toBeUndefined();
    expect(telegram.bot.commands.size).toBe(0);
    callback.close();
    callback.closeAllConnections();
  });

  it('clears a webhook in mode polling and keeps the waiting updates', async () => {
    await using telegram = await startTelegram();
    const { say } = openChat(telegram);
    await callAs(telegram, 'setWebhook', { url: 'http://127.0.0.1:1/' });
    say('waiting');
    const client = await openTelegramClient(telegram);
    await client.register(never);
    expect(telegram.bot.webhook.settings).toBeUndefined();
    expect(telegram.bot.updates.pending).toHaveLength(1);
  });

  it('leaves the webhook of another program when the channel is disabled', async () => {
    await using telegram = await startTelegram();
    const client = await openTelegramClient(telegram, { config: { mode: 'http' } });
    await callAs(telegram, 'setWebhook', { url: FOREIGN });
    await client.unregister(never);
    expect(telegram.bot.webhook.settings?.url).toBe(FOREIGN);
  });

  it('is refused with the reason for an address that Telegram does not accept', async () => {
    await using telegram = await startTelegram();
    const callbackUrl = 'http://agents.example.com/callback';
    const client = await openTelegramClient(telegram, { config: { mode: 'http' }, callbackUrl });
    await expect(client.register(never)).rejects.toMatchObject({
      kind: 'refused',
      message: 'Telegram: Bad Request: bad webhook: An HTTPS URL must be provided for webhook',
    });
  });

  it('reads the identity through a proxy', async () => {
    await using telegram = await startTelegram();
    const targets: string[] = [];
    const proxy = createServer((request, response) => {
      targets.push(request.url ?? '');
      const result = { id: 7, is_bot: true, username: 'proxied_bot' };
      response.end(JSON.stringify({ ok: true, result }));
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const apiUrl = 'http://bot-api.internal.example:8081';
    const client = await openTelegramClient(telegram, { apiUrl, proxy: url });
    expect(await client.me(never)).toMatchObject({ botId: '7', name: 'proxied_bot' });
    expect(targets).toEqual([`${apiUrl}/bot${telegram.bot.token}/getMe`]);
    proxy.close();
    proxy.closeAllConnections();
  });
});

describe('the probe of Telegram', () => {
  const problemsOf = async (client: ProductClient) =>
    Object.fromEntries(
      (await client.probe(never)).filter(({ ok }) => !ok).map((one) => [one.name, one.problem]),
    );

  it('finds nothing after the registration, and reads the identity of the bot', async () => {
    await using telegram = await startTelegram();
    const client = await openTelegramClient(telegram);
    await client.register(never);
    expect(await problemsOf(client)).toEqual({});
    const { id, username } = telegram.bot.user;
    expect(await client.me(never)).toMatchObject({ botId: String(id), name: username, teamId: '' });
  });

  it('names missing commands, privacy mode and the host of a foreign webhook', async () => {
    await using telegram = await startTelegram();
    const client = await openTelegramClient(telegram, { config: { respondTo: 'all' } });
    await callAs(telegram, 'setWebhook', { url: FOREIGN });
    const problems = await problemsOf(client);
    expect(Object.keys(problems)).toEqual(['group_privacy', 'webhook', 'commands']);
    expect(problems.group_privacy).toContain('/setprivacy');
    expect(problems.webhook).toContain('other.example.com');
    expect(problems.webhook).not.toContain('secret-path');
    expect(problems.commands).toBe('Missing: /new, /stop, /status, /link, /unlink, /help.');
  });

  it('names deliveries to the webhook that fail', async () => {
    await using telegram = await startTelegram({ retrySecondMs: 1 });
    const { say } = openChat(telegram);
    const options = { config: { mode: 'http' }, callbackUrl: 'http://127.0.0.1:1/callback' };
    const client = await openTelegramClient(telegram, options);
    await client.register(never);
    say('lost');
    await until('a delivery fails', () => telegram.bot.webhook.info().last_error_message !== undefined);
    expect(await problemsOf(client)).toEqual({
      webhook: 'Telegram could not deliver an update: Connection refused',
    });
  });

  it('says how to replace a token that Telegram refuses', async () => {
    await using telegram = await startTelegram();
    const client = await openTelegramClient(telegram);
    telegram.revokeToken(telegram.bot);
    expect(await problemsOf(client)).toEqual({
      token: 'Telegram refuses the token. Copy it again from @BotFather.',
    });
    await expect(client.me(never)).rejects.toMatchObject({ kind: 'unauthorized' });
  });
});
