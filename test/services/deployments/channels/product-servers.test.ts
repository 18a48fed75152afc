import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../../../../lib/error-codes.ts';
import { Refusal } from '../../../../lib/errors.ts';
import { TRANSPORTS } from '../../../support/context.ts';
import { startDiscord } from '../../../support/products/discord/server.ts';
import { startSlack } from '../../../support/products/slack/server.ts';
import { startTelegram } from '../../../support/products/telegram/server.ts';
import { until } from '../../../support/wait.ts';
import { type DeploymentsSystem, OWNER, openDeploymentsSystem } from '../system.ts';
import { IDENTITIES, storeChannel } from './fixtures.ts';

/** Forwards requests of a product to ReceiveCallback, as the edge does. The path is the id of the deployment. */
async function startForwarder(system: DeploymentsSystem) {
  const server = createServer(async (request, response) => {
    const headers = request.rawHeaders.flatMap((name, at) =>
      at % 2 === 0 ? [{ name: name.toLowerCase(), value: request.rawHeaders[at + 1] ?? '' }] : [],
    );
    const deploymentId = (request.url ?? '').slice(1);
    const given = { httpMethod: request.method ?? '', target: request.url ?? '', oversize: false };
    const body = await buffer(request);
    try {
      const answer = await system.edge.receiveCallback({
        ...given,
        ...{ deploymentId, headers, body, sourceAddress: '127.0.0.1' },
      });
      if (answer.contentType !== '') response.setHeader('content-type', answer.contentType);
      response.writeHead(answer.status).end(answer.body);
    } catch (error) {
      response.writeHead(error instanceof Refusal ? ERRORS[error.code].status : 500).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (deploymentId: string) => `http://127.0.0.1:${port}/${deploymentId}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('callbacks of the protocol servers', () => {
  let system: DeploymentsSystem;
  let forwarder: Awaited<ReturnType<typeof startForwarder>>;

  beforeAll(async () => {
    system = await openDeploymentsSystem(TRANSPORTS[0]!);
    forwarder = await startForwarder(system);
  });
  afterAll(async () => {
    await forwarder[Symbol.asyncDispose]();
    await system[Symbol.asyncDispose]();
  });

  type Reference = Awaited<ReturnType<typeof storeChannel>>;

  async function listed(reference: Reference, result: string) {
    const request = { ...reference, page: { limit: 100, cursor: '' }, result };
    return (await system.edge.listDeliveries(request, { caller: OWNER })).deliveries;
  }

  /** Kinds and conversations of the events for the agent, the oldest first. */
  const pending = async (reference: Reference) =>
    (await listed(reference, 'pending')).map(({ kind, conversation }) => `${kind} ${conversation}`).reverse();

  it('of Slack: the challenge, mentions with retries and other event ids, threads, edits and commands', async () => {
    const faults = { duplicate: 0.5 };
    await using slack = await startSlack({ seed: 3, faults, retryDelaysMs: [0, 20, 50] });
    const { appId, botUser: botId, botId: botProfileId, workspace } = slack;
    const identity = { ...IDENTITIES.slack, appId, botId, botProfileId, teamId: workspace.teamId };
    const channel = await storeChannel(system, 'slack', {
      identity,
      credentials: { signing_secret: slack.signingSecret },
    });
    expect(await slack.setRequestUrl(forwarder.urlOf(channel.deploymentId))).toBe(true);
    const { users, channels } = workspace;
    workspace.postAs(users.grace, channels.general, 'not for the bot');
    const asked = workspace.postAs(users.ada, channels.general, 'build?', { mention: true });
    const key = `${channels.general}:${asked.ts}`;
    await until('the mention is stored', async () => (await pending(channel)).includes(`message ${key}`));
    workspace.postAs(users.grace, channels.general, 'and the tests?', { thread: asked.ts });
    workspace.editAs(users.ada, asked, 'build now?');
    const direct = workspace.directMessages(users.ada);
    workspace.postAs(users.ada, direct, 'hello', { files: [{ name: 'a.txt', bytes: 'a' }] });
    expect(await workspace.command(users.ada, '/agent status')).toEqual({
      isAcknowledged: true,
      response: '',
    });
    await slack.settled();
    await until('all events are stored', async () => (await pending(channel)).length === 4);
    expect((await pending(channel)).toSorted()).toEqual(
      [`message ${key}`, `message ${key}`, `message ${direct}`, `command ${channels.general}`].toSorted(),
    );
    await until('an edit is listed', async () =>
      (await listed(channel, 'ignored')).some(({ reason }) => reason === 'edited'),
    );
    expect(slack.lost).toEqual([]);
    expect(await listed(channel, 'refused')).toEqual([]);
  });

  it('of Telegram: private chats, groups with privacy mode, commands and duplicated pushes', async () => {
    await using telegram = await startTelegram({ seed: 4, faults: { duplicate: 0.5 } });
    const { bot } = telegram;
    const identity = { ...IDENTITIES.telegram, botId: String(bot.user.id), name: bot.user.username };
    const channel = await storeChannel(system, 'telegram', { identity });
    const response = await fetch(`${telegram.apiUrl}/bot${bot.token}/setWebhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        url: forwarder.urlOf(channel.deploymentId),
        secret_token: 'the-secret-token-of-the-webhook',
      }),
    });
    expect(response.status).toBe(200);
    const ada = telegram.createUser({ firstName: 'Ada', username: 'ada' });
    const chat = telegram.privateChat(ada);
    const group = telegram.createGroup('Team', [ada]);
    telegram.post({ from: ada, chat, text: '/start' });
    telegram.post({ from: ada, chat, text: 'hello' });
    telegram.post({ from: ada, chat: group, text: 'not for the bot' });
    telegram.post({ from: ada, chat: group, text: `hi @${bot.user.username}` });
    telegram.post({ from: ada, chat: group, text: `/new@${bot.user.username}` });
    await until('all updates are accepted', async () => bot.updates.pending.length === 0);
    expect((await pending(channel)).toSorted()).toEqual(
      [`command ${chat.id}`, `message ${chat.id}`, `message ${group.id}`, `command ${group.id}`].toSorted(),
    );
    expect(await listed(channel, 'refused')).toEqual([]);
  });

  it('of Discord: the check of the endpoint with a wrong signature, and a command', async () => {
    await using discord = await startDiscord({ seed: 5 });
    const { application } = discord;
    const channel = await storeChannel(system, 'discord', {
      identity: { ...IDENTITIES.discord, botId: application.bot.id, appId: application.id },
      credentials: { public_key: application.publicKey },
    });
    const call = (method: string, path: string, body: unknown) =>
      fetch(`${discord.apiUrl}/v10${path}`, {
        method,
        headers: { authorization: `Bot ${application.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const url = forwarder.urlOf(channel.deploymentId);
    expect((await call('PATCH', '/applications/@me', { interactions_endpoint_url: url })).status).toBe(200);
    const command = { name: 'status', description: 'Shows the state', type: 1 };
    expect((await call('PUT', `/applications/${application.id}/commands`, [command])).status).toBe(200);
    const ada = discord.createUser('ada');
    const guild = discord.createGuild('Operations', [ada]);
    const general = discord.createChannel(guild, 'general');
    const interaction = discord.runCommand(ada, general, 'status');
    await until('the command is deferred', async () => interaction.state === 'deferred');
    expect(await pending(channel)).toEqual([`command ${general.id}`]);
    await until('the check is listed', async () => (await listed(channel, 'refused')).length > 0);
    expect((await listed(channel, 'refused'))[0]).toMatchObject({ reason: 'bad_signature' });
  });
});
