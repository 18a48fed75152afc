import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi, dataOfCreated } from '../../support/api.ts';
import { startTelegram, type Telegram } from '../../support/products/telegram/server.ts';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';

const STEPS = [
  { tool: 'calculator', input: { expression: '6*7' } },
  { tool: 'write_file', input: { path: 'outbox/result.txt', content: 'forty-two' } },
  { text: 'The **answer** is {{input}} and more than one edit long.', chunk_chars: 8, delay_ms: 300 },
];
const LINK = /\/link\/([\w-]+)/;

interface Channel {
  deployment_id: string;
  connection: { mode: string; state: string; last_error: string | null };
}

describe('a channel with the provider telegram', () => {
  let telegram: Telegram;
  let system: System;
  let api: Api;
  let scripted: string;
  beforeAll(async () => {
    telegram = await startTelegram({ seed: 22, faults: { duplicate: 0.2 } });
    system = await startSystem({ SERVICE_CHANNELS_API_URLS: `telegram=${telegram.apiUrl}` });
    api = createApi(system.url);
    scripted = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: STEPS },
      tools: [{ name: 'calculator', permission: 'ask' }, { name: 'write_file' }],
    });
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await telegram?.[Symbol.asyncDispose]();
  });

  async function connect(mode: string, agent: string, more: object) {
    const bot = telegram.createBot();
    const config = { mode, ...more };
    const credentials = { bot_token: bot.token };
    const members = { type: 'channel', provider: 'telegram', name: 'Chat', config, credentials };
    const deployments = `/admin/agents/${agent}/deployments`;
    const created = dataOfCreated(await api.post(deployments, members));
    return { bot, deployments, id: String(created.deployment_id) };
  }

  it.each(['polling', 'http'])(
    'links an account, takes a file, asks for an approval, edits its answer in place and sends a file in mode %s',
    async (mode) => {
      const { bot, id, deployments } = await connect(mode, scripted, {});
      const connection = await until('the channel is connected', async () => {
        const { connection } = (await api.get(`${deployments}/${id}`)).body.data as unknown as Channel;
        return connection.state === 'connected' && connection;
      });
      expect(connection).toMatchObject({ mode, last_error: null });
      const ada = telegram.createUser({ firstName: 'Ada' });
      const chat = telegram.privateChat(ada, bot);
      const answers = () => telegram.messages(chat).filter(({ from }) => from?.is_bot);
      const answered = (what: string, text: RegExp) =>
        until(what, () => answers().find((one) => text.test(one.text ?? '')));

      telegram.post({ from: ada, chat, text: 'Hello' });
      const offer = await answered('a link is offered', LINK);
      const [, code] = LINK.exec(offer.text ?? '') ?? [];
      expect((await api.post(`/auth/link-codes/${code}`)).status).toBe(201);

      const file = { name: 'figures.txt', type: 'text/plain', bytes: Buffer.from('6, 7') };
      telegram.post({ from: ada, chat, text: 'Multiply', file });
      const question = await answered('the approval is asked for', /asks to run calculator/);
      expect(question.reply_markup?.inline_keyboard.flat().map(({ text }) => text)).toEqual([
        'Allow',
        'Deny',
      ]);
      telegram.click(ada, question, 'Allow');
      const shown = await answered('the answer begins', /The answer is/);
      const whole = await answered('the answer is whole', /more than one edit long\.$/);
      expect(whole.message_id).toBe(shown.message_id);
      expect(whole.entities).toMatchObject([{ type: 'bold' }]);
      const decided = await answered('the decision is shown', /Allowed by Ada/);
      expect(decided.message_id).toBe(question.message_id);
      expect(decided.reply_markup).toBeUndefined();
      const sent = await until('the file is sent', () => answers().find(({ document }) => document));
      expect(Buffer.from(telegram.files.get(sent.document?.file_id ?? '').bytes).toString()).toBe(
        'forty-two',
      );
      expect(answers().filter(({ text }) => /The answer is/.test(text ?? ''))).toHaveLength(1);

      const inbox = await api.list<{ kind: string; result: string; session_id: string }>(
        `${deployments}/${id}/deliveries`,
      );
      const accepted = inbox.filter(({ result }) => result === 'accepted');
      expect(accepted.map(({ kind }) => kind)).toEqual(['action', 'message']);
      expect(inbox.some(({ result }) => result === 'failed')).toBe(false);
      const session = accepted.at(-1)?.session_id;
      const files = await api.list<{ path: string }>(`/sessions/${session}/files?recursive=true`);
      expect(files.map(({ path }) => path)).toContainEqual(
        expect.stringMatching(/^inbox\/.+\/figures\.txt$/),
      );
    },
  );

  it('keeps the session of a group that becomes a supergroup, and replies to the messages there', async () => {
    const agent = await api.createAgent();
    const { bot, id, deployments } = await connect('polling', agent, { access: { mode: 'anyone' } });
    await until('the channel is connected', async () => {
      const { connection } = (await api.get(`${deployments}/${id}`)).body.data as unknown as Channel;
      return connection.state === 'connected';
    });
    const ada = telegram.createUser({ firstName: 'Ada' });
    const group = telegram.createGroup('Operations', [ada], { bots: [bot] });
    const ask = (chat: typeof group | ReturnType<Telegram['upgrade']>, text: string) =>
      telegram.post({ from: ada, chat, text: `@${bot.user.username} ${text}` });
    const answerTo = ({ chat, message_id }: ReturnType<typeof ask>) =>
      until('the message is answered', () =>
        telegram
          .messages(chat as typeof group)
          .find(({ from, reply_to_message: to }) => from?.is_bot && to?.message_id === message_id),
      );
    await answerTo(ask(group, 'One'));
    const supergroup = telegram.upgrade(group);
    await answerTo(ask(supergroup, 'Two'));
    const conversations = await api.list<{ conversation: string }>(`${deployments}/${id}/conversations`);
    expect(conversations.map(({ conversation }) => conversation)).toEqual([String(group.id)]);
    const accepted = await until('both messages are accepted', async () => {
      const inbox = await api.list<{ result: string; session_id: string }>(`${deployments}/${id}/deliveries`);
      const found = inbox.filter(({ result }) => result === 'accepted');
      return found.length === 2 && found;
    });
    expect(new Set(accepted.map(({ session_id }) => session_id)).size).toBe(1);
  });

  it('answers after refused and lost requests, in one turn, and marks a message that may be shown twice', async () => {
    const agent = await api.createAgent();
    const { bot, id, deployments } = await connect('polling', agent, { access: { mode: 'anyone' } });
    const eve = telegram.createUser({ firstName: 'Eve' });
    const chat = telegram.privateChat(eve, bot);
    telegram.faults.enqueue('getUpdates', undefined, { kind: 'applied_then_cut' });
    telegram.faults.enqueue(
      'sendMessage',
      { kind: 'rate_limited', retryAfterSeconds: 1 },
      { kind: 'server_error', status: 503 },
      { kind: 'applied_then_cut' },
    );
    telegram.post({ from: eve, chat, text: 'Is it up?' });
    const posts = () => api.list<{ state: string; maybe_duplicate: boolean }>(`${deployments}/${id}/posts`);
    await until('the answer is posted', async () => (await posts()).some(({ state }) => state === 'posted'));
    expect(await posts()).toMatchObject([{ state: 'posted', maybe_duplicate: true }]);
    const answers = telegram.messages(chat).filter(({ from }) => from?.is_bot);
    expect(answers.map(({ text }) => text)).toHaveLength(2);
    const deliveries = await api.list<{ result: string }>(`${deployments}/${id}/deliveries`);
    expect(deliveries.filter(({ result }) => result === 'accepted')).toHaveLength(1);
  });

  it('fails with the reason after the token was replaced', async () => {
    const agent = await api.createAgent();
    const { bot, id, deployments } = await connect('polling', agent, {});
    const connection = async () => {
      const { body } = await api.get(`${deployments}/${id}`);
      return (body.data as unknown as Channel).connection;
    };
    await until('the channel is connected', async () => (await connection()).state === 'connected');
    telegram.revokeToken(bot);
    telegram.closeConnections();
    const failed = await until('the connection fails', async () => {
      const now = await connection();
      return now.state === 'failed' && now;
    });
    expect(failed.last_error).toBe('Telegram: Unauthorized');
    const { body } = await api.post(`${deployments}/${id}/probe`);
    expect(body.data).toMatchObject({ checks: [{ name: 'token', ok: false }] });
  });
});
