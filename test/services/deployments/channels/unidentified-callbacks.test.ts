import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../../support/context.ts';
import { until } from '../../../support/wait.ts';
import { type DeploymentsSystem, openDeploymentsSystem } from '../system.ts';
import {
  callback,
  callbacksOf,
  connectBot,
  type Headers,
  IDENTITIES,
  slackEvent,
  slackHeaders,
  storeChannel,
  telegramMention,
} from './fixtures.ts';

const NOT_READY = { code: 'CHANNEL_NOT_READY', retryAfterSeconds: 5 };
const UNAUTHORIZED = { code: 'DEPLOYMENT_UNAUTHORIZED' };

describe.each(TRANSPORTS)('ReceiveCallback RPC before a worker has reported the bot, %s', (transport) => {
  let system: DeploymentsSystem;

  beforeAll(async () => {
    system = await openDeploymentsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { now, listed, sendSlack } = callbacksOf(() => system);

  const direct = { channel: 'D1', channel_type: 'im', ts: '1700000000.000100', text: 'hi' };
  const form = (members: Record<string, string>) => new URLSearchParams(members).toString();
  const CLICK = { type: 'block_actions', team: { id: 'T0TEAM' }, api_app_id: 'A0APP' };

  const sendForm = (deploymentId: string, body: string) => {
    const headers = slackHeaders(body, now(), 'application/x-www-form-urlencoded');
    return system.edge.receiveCallback(callback(deploymentId, body, headers));
  };

  it('refuses an event of Slack, and accepts its redelivery afterwards once', async () => {
    const channel = await storeChannel(system, 'slack', { identity: null });
    const { deploymentId } = channel;
    await expect(sendSlack(deploymentId, slackEvent(direct))).rejects.toMatchObject(NOT_READY);
    expect(await listed(channel, 'pending')).toEqual([]);
    await connectBot(system, deploymentId, IDENTITIES.slack);
    await system.context.bus.awaitPropagation(1_000);
    for (const _ of ['the redelivery', 'its copy'])
      expect(await sendSlack(deploymentId, slackEvent(direct))).toMatchObject({ status: 200 });
    expect(await listed(channel, 'pending')).toHaveLength(1);
    await until('the refusal is listed', async () => (await listed(channel, 'refused')).length === 1);
    expect(await listed(channel, 'refused')).toMatchObject([{ reason: 'not_connected', kind: 'other' }]);
  });

  it.each([
    ['app_mismatch', { api_app_id: 'A9' }],
    ['team_mismatch', { team_id: 'T9' }],
  ])('refuses the redelivery of an event with %s for good', async (reason, members) => {
    const channel = await storeChannel(system, 'slack', { identity: null });
    const body = slackEvent(direct, members);
    await expect(sendSlack(channel.deploymentId, body)).rejects.toMatchObject(NOT_READY);
    await connectBot(system, channel.deploymentId, IDENTITIES.slack);
    await system.context.bus.awaitPropagation(1_000);
    await expect(sendSlack(channel.deploymentId, body)).rejects.toMatchObject(UNAUTHORIZED);
    await until('both refusals are listed', async () => (await listed(channel)).length === 2);
    expect((await listed(channel)).map((one) => `${one.result} ${one.reason}`)).toEqual([
      `refused ${reason}`,
      'refused not_connected',
    ]);
  });

  it('refuses clicks and commands of Slack', async () => {
    const { deploymentId } = await storeChannel(system, 'slack', { identity: null });
    for (const body of [
      form({ payload: JSON.stringify(CLICK) }),
      form({ command: '/agent', text: 'new', team_id: 'T0TEAM', api_app_id: 'A0APP', user_id: 'U1' }),
    ])
      await expect(sendForm(deploymentId, body)).rejects.toMatchObject(NOT_READY);
  });

  it('answers the checks of Slack, ignores malformed bodies, and refuses bodies that are not authentic', async () => {
    const channel = await storeChannel(system, 'slack', { identity: null });
    const { deploymentId } = channel;
    const challenge = JSON.stringify({ type: 'url_verification', challenge: 'c0ffee' });
    const answer = await sendSlack(deploymentId, challenge);
    expect(Buffer.from(answer.body).toString()).toBe('c0ffee');
    expect(await sendForm(deploymentId, form({ ssl_check: '1' }))).toMatchObject({ status: 200 });
    expect(await sendSlack(deploymentId, '[]')).toMatchObject({ status: 200 });
    const unsigned = callback(deploymentId, slackEvent(direct), []);
    await expect(system.edge.receiveCallback(unsigned)).rejects.toMatchObject(UNAUTHORIZED);
    await until('the events are listed', async () => (await listed(channel)).length === 2);
    expect((await listed(channel)).map((one) => `${one.result} ${one.reason}`).toSorted()).toEqual([
      'ignored malformed',
      'refused missing_timestamp',
    ]);
  });

  it('refuses interactions of Discord, and answers its check of the endpoint', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
    const channel = await storeChannel(system, 'discord', {
      identity: null,
      credentials: { public_key: key },
    });
    const send = (interaction: object) => {
      const body = JSON.stringify(interaction);
      const timestamp = String(Math.floor(now().getTime() / 1_000));
      const signature = sign(null, Buffer.from(timestamp + body), privateKey).toString('hex');
      const headers: Headers = [
        ['x-signature-timestamp', timestamp],
        ['x-signature-ed25519', signature],
      ];
      return system.edge.receiveCallback(callback(channel.deploymentId, body, headers));
    };
    expect(Buffer.from((await send({ type: 1 })).body).toString()).toBe('{"type":1}');
    const { appId } = IDENTITIES.discord;
    await expect(send({ id: '1', type: 2, application_id: appId })).rejects.toMatchObject(NOT_READY);
  });

  it('counts a flood of refused events in few rows', async () => {
    const channel = await storeChannel(system, 'slack', { identity: null });
    for (let n = 0; n < 60; n++)
      await expect(sendSlack(channel.deploymentId, slackEvent(direct))).rejects.toMatchObject(NOT_READY);
    const counted = async () => (await listed(channel)).reduce((sum, { count }) => sum + count, 0);
    await until('the events are listed', async () => (await counted()) === 60);
    expect((await listed(channel)).length).toBeLessThan(30);
  });

  it('recognizes a mention as soon as another instance has stored the identity of the bot, without a hint', async () => {
    const channel = await storeChannel(system, 'telegram', { identity: null });
    const mention = telegramMention(channel.deploymentId, 1, 11);
    await expect(system.edge.receiveCallback(mention)).rejects.toMatchObject(NOT_READY);
    const { databaseUrl } = system.context;
    await using other = await openDeploymentsSystem(transport, { databaseUrl, fakes: system.fakes });
    await connectBot(other, channel.deploymentId, IDENTITIES.telegram);
    await system.edge.receiveCallback(mention);
    expect(await listed(channel, 'pending')).toHaveLength(1);
  });
});
