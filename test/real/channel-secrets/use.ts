import { expect } from 'vitest';
import { dataOfCreated } from '../../support/api.ts';
import type { Canaries } from '../../support/canaries.ts';
import { createChannelClient } from '../../support/channel-client.ts';
import { until } from '../../support/wait.ts';
import type { Products } from './products.ts';
import type { RecordingApi } from './recorded-responses.ts';
import { createTalks } from './talks.ts';

const STEPS = [
  { tool: 'write_file', input: { path: 'outbox/result.txt', content: 'forty-two' } },
  { text: 'The answer to {{input}} is in the file.', chunk_chars: 8, delay_ms: 50 },
];
/** A busy machine needs several times longer than usual. */
const LIMIT_MS = 120_000;
/** Requests of each product that fail once, in one way each. */
const METHODS = {
  slack: ['chat.postMessage', 'chat.update', 'upload', 'download', 'auth.test'],
  telegram: ['sendMessage', 'editMessageText', 'sendDocument', 'download', 'getUpdates', 'getMe'],
  discord: ['POST /channels/:channel/messages', 'PATCH /channels/:channel/messages/:message', 'download'],
} as const;
const FAULTS = [
  { kind: 'rate_limited', retryAfterSeconds: 1 },
  { kind: 'server_error', status: 503 },
  { kind: 'applied_then_cut' },
] as const;

interface Context extends Products {
  api: RecordingApi;
  origin: string;
  canaries: Canaries;
  /** The name of each channel. */
  name: string;
}

type Credentials = Record<string, string>;

/** Creates, uses, breaks, repairs and disables a channel of each provider. Every secret is a canary. */
export async function useChannels({ api, origin, canaries, name, ...products }: Context): Promise<void> {
  const { slack, telegram, discord } = products;
  const talks = createTalks(products);
  const agent = dataOfCreated(
    await api('POST', '/agents', {
      ...{ name: 'Writer', model: 'rehearsal/script', model_options: { steps: STEPS } },
      tools: [{ name: 'write_file' }],
    }),
  );
  const all = `/admin/agents/${agent.agent_id}/deployments`;

  async function create(provider: string, members: object, shownOnce: readonly string[] = []) {
    const { config, ...others } = { config: {}, ...members };
    const access = { mode: 'anyone' };
    const channel = { type: 'channel', provider, name, config: { ...config, access }, ...others };
    const data = dataOfCreated(await api('POST', all, channel, shownOnce));
    const id = String(data.deployment_id);
    return { id, path: `${all}/${id}`, data, callback: `${origin}/api/v1/deployments/${id}/callback` };
  }
  const isInState = async (path: string, state: string) => {
    const { body } = await api('GET', path);
    return (body.data.connection as unknown as { state: string }).state === state;
  };
  const reaches = (path: string, state: string) =>
    until(`the connection is ${state}`, () => isInState(path, state), LIMIT_MS);

  /** Secrets in members in which they are not accepted. */
  async function sendWrong(provider: string, credentials: Credentials): Promise<void> {
    for (const secret of Object.values(credentials)) {
      for (const wrong of [
        { credentials: { ...credentials, bot_token: [secret] } },
        { credentials: { ...credentials, bot_token: `${secret}\u0007 ` } },
        { credentials: secret },
        { credentials, config: { mode: secret } },
        { credentials, config: { access: { mode: secret } } },
        { credentials, provider: secret },
      ]) {
        const { status } = await api('POST', all, { type: 'channel', provider, name, ...wrong });
        expect(status, JSON.stringify(wrong)).toBe(400);
      }
    }
  }

  async function refuseAnother(provider: string, credentials: Credentials, config: object): Promise<void> {
    const channel = { type: 'channel', provider, name, config, credentials };
    expect((await api('POST', all, channel)).status).toBe(409);
  }

  /** A channel whose tokens the product does not know. */
  async function createUnknown(provider: string, credentials: Credentials, config: object): Promise<void> {
    for (const [member, secret] of Object.entries(credentials))
      if (member !== 'application_id') canaries.add(`unknown ${provider} ${member}`, secret);
    const { path } = await create(provider, { credentials, config });
    await reaches(path, 'failed');
    await api('POST', `${path}/probe`);
    expect((await api('DELETE', path)).status).toBe(200);
  }

  async function look(path: string): Promise<void> {
    for (const what of ['', '/setup', '/deliveries', '/conversations', '/posts', '/links'])
      expect((await api('GET', `${path}${what}`)).status).toBe(200);
    await api('POST', `${path}/probe`);
  }

  async function disable(path: string): Promise<void> {
    expect((await api('POST', `${path}/disable`)).status).toBe(200);
    await reaches(path, 'off');
  }

  function fail(product: keyof typeof METHODS): void {
    for (const [index, method] of METHODS[product].entries())
      products[product].faults.enqueue(method, FAULTS[index % FAULTS.length]);
  }

  async function useSlack(): Promise<void> {
    const { botToken: bot_token, appToken: app_token, signingSecret: signing_secret } = slack;
    const credentials = { bot_token, app_token, signing_secret };
    await sendWrong('slack', credentials);
    const { path, callback } = await create('slack', { credentials, config: { mode: 'socket' } });
    await reaches(path, 'connected');
    await refuseAnother('slack', credentials, { mode: 'socket' });
    fail('slack');
    await talks.slack('socket');
    await look(path);
    await api('PATCH', path, { config: { mode: 'http' }, credentials: { signing_secret } });
    await until('Slack knows the address', () => slack.setRequestUrl(callback));
    await talks.slack('http');
    await createUnknown(
      'slack',
      { bot_token: `xoxb-${'1'.repeat(12)}-unknown`, app_token: `xapp-1-${'2'.repeat(12)}-unknown` },
      { mode: 'socket' },
    );
    slack.setTokenError('token_revoked');
    await api('PATCH', path, { credentials: { bot_token } });
    await reaches(path, 'failed');
    await look(path);
    await disable(path);
  }

  async function useTelegram(): Promise<void> {
    const { bot } = telegram;
    await sendWrong('telegram', { bot_token: bot.token });
    const credentials = { bot_token: bot.token };
    const { path } = await create('telegram', { credentials, config: { mode: 'polling' } });
    await reaches(path, 'connected');
    await refuseAnother('telegram', credentials, { mode: 'polling' });
    fail('telegram');
    await talks.telegram('polling');
    await look(path);
    await api('PATCH', path, { config: { mode: 'http' } });
    const { secretToken = '' } = await until('the webhook is set', () => bot.webhook.settings);
    canaries.add('Telegram webhook secret', secretToken);
    await talks.telegram('http');
    await createUnknown('telegram', { bot_token: `123456:AA${'unknown'.repeat(5)}` }, { mode: 'polling' });
    canaries.add('second Telegram bot token', telegram.revokeToken(bot));
    telegram.closeConnections();
    await api('PATCH', path, { config: { mode: 'polling' } });
    await reaches(path, 'failed');
    await look(path);
    await api('PATCH', path, { credentials: { bot_token: bot.token } });
    await reaches(path, 'connected');
    await disable(path);
  }

  async function useDiscord(): Promise<void> {
    const { application } = discord;
    const { id: application_id, token: bot_token } = application;
    const credentials = { bot_token, application_id };
    await sendWrong('discord', credentials);
    const { path } = await create('discord', { credentials, config: { mode: 'gateway' } });
    await reaches(path, 'connected');
    await refuseAnother('discord', credentials, { mode: 'gateway' });
    fail('discord');
    await talks.discord('gateway');
    await look(path);
    const unknown = { bot_token: `${'unknown.'.repeat(6)}token`, application_id };
    await createUnknown('discord', unknown, { mode: 'gateway' });
    canaries.add('second Discord bot token', discord.resetToken(application));
    await reaches(path, 'failed');
    await look(path);
    await api('PATCH', path, { credentials: { bot_token: application.token } });
    await reaches(path, 'connected');
    await disable(path);
  }

  async function useHttp(): Promise<void> {
    const { id, path, data } = await create('http', {}, ['shared_secret']);
    const secret = canaries.add('shared secret', String(data.shared_secret));
    canaries.add('key of the shared secret', Buffer.from(secret.slice(6), 'base64').toString('latin1'));
    await sendWrong('http', { shared_secret: secret });
    await talks.http(createChannelClient(origin, id, secret));
    const forger = createChannelClient(origin, id, `${secret.slice(0, -4)}AAA=`);
    expect((await forger.sendMessage('room', 'm2', 'hello')).status).toBe(401);
    await look(path);
    await disable(path);
  }

  await Promise.all([useSlack(), useTelegram(), useDiscord(), useHttp()]);
  const sessions = await api('GET', '/sessions?limit=100');
  for (const { session_id: id } of sessions.body.data as { session_id: string }[])
    for (const what of ['', '/events?limit=1000', '/messages']) await api('GET', `/sessions/${id}${what}`);
  for (const path of [all, '/admin/audit?limit=100', '/admin/configuration']) await api('GET', path);
}
