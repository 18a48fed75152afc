import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InboundEvent } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { TRANSPORTS } from '../../../support/context.ts';
import { until } from '../../../support/wait.ts';
import { type DeploymentsSystem, OWNER, openDeploymentsSystem } from '../system.ts';
import { APPROVAL, callbacksOf, httpMessage, slackEvent, storeChannel, telegramMention } from './fixtures.ts';

describe.each(TRANSPORTS)('ReceiveCallback RPC, %s', (transport) => {
  let system: DeploymentsSystem;

  beforeAll(async () => {
    system = await openDeploymentsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { listed, sendHttp, sendSlack } = callbacksOf(() => system);
  const sendTelegramMention = (deploymentId: string, id: number, from: number) =>
    system.edge.receiveCallback(telegramMention(deploymentId, id, from));

  it('commits a message of the provider http and answers with the id of its delivery', async () => {
    const channel = await storeChannel(system, 'http');
    const { status, contentType, data } = await sendHttp(channel.deploymentId, httpMessage('m1'));
    expect([status, contentType]).toEqual([202, 'application/json; charset=utf-8']);
    expect(data).toEqual({
      delivery_id: expect.stringMatching(/^dlv_/),
      session_id: null,
      duplicate: false,
    });
    const [row] = await system.sql<{ payload: Buffer; traceparent: string; ready_at: Date }>(
      `select payload, traceparent, ready_at from deliveries where deployment_id = $1`,
      [channel.deploymentId],
    );
    expect(InboundEvent.decode(row!.payload)).toMatchObject({ text: 'Is the build green?', senderId: 'u1' });
    expect(row?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    expect(row?.ready_at).not.toBeNull();
    expect(await listed(channel)).toMatchObject([
      {
        deliveryId: data.delivery_id,
        kind: 'message',
        result: 'pending',
        reason: '',
        sender: { externalId: 'u1', name: 'Ada', userId: '' },
        conversation: 'room-1',
        sourceAddress: '203.0.113.7',
        size: httpMessage('m1').length,
        attempts: 0,
        count: 1,
      },
    ]);
  });

  it('commits a message with a file of 11 MiB', async () => {
    const channel = await storeChannel(system, 'http');
    const files = [{ name: 'a.bin', content_base64: Buffer.alloc(11 * 1024 * 1024, 'x').toString('base64') }];
    const message = { ...JSON.parse(httpMessage('m1')), message: { id: 'm1', text: '', files } };
    expect((await sendHttp(channel.deploymentId, JSON.stringify(message))).status).toBe(202);
    const [row] = await system.sql<{ length: number }>(
      'select octet_length(payload) as length from deliveries where deployment_id = $1',
      [channel.deploymentId],
    );
    expect(row?.length).toBeGreaterThan(11 * 1024 * 1024);
  });

  it('answers a redelivered message with the first delivery and lists the redelivery as duplicate', async () => {
    const channel = await storeChannel(system, 'http');
    const first = await sendHttp(channel.deploymentId, httpMessage('m1'));
    await system.sql(
      `update deliveries set result = 'accepted', session_id = 'ses_1' where delivery_id = $1`,
      [first.data.delivery_id],
    );
    const second = await sendHttp(channel.deploymentId, httpMessage('m1', 'Another text'));
    expect(second.data).toEqual({
      delivery_id: first.data.delivery_id,
      session_id: 'ses_1',
      duplicate: true,
    });
    await until('the events are listed', async () => (await listed(channel, 'duplicate')).length === 1);
    expect(await listed(channel, 'accepted')).toHaveLength(1);
  });

  it('commits each of 40 concurrent copies of 20 messages once', async () => {
    const channel = await storeChannel(system, 'http');
    const bodies = Array.from({ length: 40 }, (_, n) => httpMessage(`m${n % 20}`));
    const answers = await Promise.all(bodies.map((body) => sendHttp(channel.deploymentId, body)));
    expect(new Set(answers.map(({ data }) => data.delivery_id)).size).toBe(20);
    expect(answers.filter(({ data }) => data.duplicate)).toHaveLength(20);
    expect(await listed(channel, 'pending')).toHaveLength(20);
  });

  it('returns the session of a conversation that has one', async () => {
    const channel = await storeChannel(system, 'http');
    await system.sql(
      `insert into conversations (deployment_id, conversation, owner_id, place, session_id, last_in_at, created_at)
       values ($1, 'room-1', $2, '{}', 'ses_7', now(), now())`,
      [channel.deploymentId, OWNER.userId],
    );
    expect((await sendHttp(channel.deploymentId, httpMessage('m1'))).data.session_id).toBe('ses_7');
    await system.sql(`update conversations set is_detached = true where deployment_id = $1`, [
      channel.deploymentId,
    ]);
    expect((await sendHttp(channel.deploymentId, httpMessage('m2'))).data.session_id).toBeNull();
  });

  it('marks commands and clicks as urgent', async () => {
    const channel = await storeChannel(system, 'http');
    const common = { conversation: 'room-1', user: { id: 'u1', name: 'Ada' } };
    await sendHttp(
      channel.deploymentId,
      JSON.stringify({ ...common, type: 'command', command: { id: 'c1', name: 'stop' } }),
    );
    await sendHttp(
      channel.deploymentId,
      JSON.stringify({
        ...common,
        type: 'action',
        action: { id: 'a1', approval_id: APPROVAL, decision: 'deny' },
      }),
    );
    await sendHttp(channel.deploymentId, httpMessage('m1', '!new'));
    await sendHttp(channel.deploymentId, httpMessage('m2'));
    const rows = await system.sql<{ kind: string; is_urgent: boolean }>(
      `select kind, is_urgent from deliveries where deployment_id = $1 order by delivery_id`,
      [channel.deploymentId],
    );
    expect(rows.map((row) => [row.kind, row.is_urgent])).toEqual([
      ['command', true],
      ['action', true],
      ['command', true],
      ['message', false],
    ]);
  });

  it('answers the challenge of Slack and lists nothing', async () => {
    const channel = await storeChannel(system, 'slack');
    const body = JSON.stringify({ type: 'url_verification', challenge: 'c0ffee', token: 't' });
    const answer = await sendSlack(channel.deploymentId, body);
    expect([answer.status, answer.contentType, Buffer.from(answer.body).toString()]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'c0ffee',
    ]);
    expect(await listed(channel)).toEqual([]);
  });

  it('stores a mention that Slack sends as message and as app_mention once', async () => {
    const channel = await storeChannel(system, 'slack');
    const mention = { channel: 'C1', channel_type: 'channel', ts: '1700000000.000100', text: '<@U0BOT> hi' };
    const bodies = [
      slackEvent(mention),
      slackEvent({ ...mention, type: 'app_mention' }, { event_id: 'Ev2' }),
      slackEvent(mention, { event_id: 'Ev3' }),
    ];
    for (const body of bodies)
      expect(await sendSlack(channel.deploymentId, body)).toMatchObject({ status: 200 });
    expect(await listed(channel, 'pending')).toMatchObject([{ conversation: 'C1:1700000000.000100' }]);
    await until('the events are listed', async () => (await listed(channel, 'duplicate')).length === 2);
  });

  it('accepts messages of threads that the bot is in, and no others without a mention', async () => {
    const channel = await storeChannel(system, 'slack');
    const reply = (ts: string, thread: string, text: string) =>
      slackEvent({ channel: 'C1', channel_type: 'channel', thread_ts: thread, ts, text });
    await sendSlack(channel.deploymentId, reply('1700000001.000000', '1700000000.000000', 'not for you'));
    await sendSlack(channel.deploymentId, reply('1700000002.000000', '1700000000.000000', '<@U0BOT> you'));
    await sendSlack(channel.deploymentId, reply('1700000003.000000', '1700000000.000000', 'for you now'));
    expect(await listed(channel, 'pending')).toHaveLength(2);
    await system.sql(`delete from deliveries where deployment_id = $1`, [channel.deploymentId]);
    await system.sql(
      `insert into conversations (deployment_id, conversation, owner_id, place, last_in_at, created_at)
       values ($1, 'C1:1700000000.000000', $2, '{}', now(), now())`,
      [channel.deploymentId, OWNER.userId],
    );
    await sendSlack(channel.deploymentId, reply('1700000004.000000', '1700000000.000000', 'still for you'));
    await sendSlack(channel.deploymentId, reply('1700000005.000000', '1600000000.000000', 'another thread'));
    expect(await listed(channel, 'pending')).toHaveLength(1);
    await until('the events are listed', async () => (await listed(channel, 'ignored')).length === 2);
    const ignored = await listed(channel, 'ignored');
    expect(ignored.map(({ conversation, reason }) => [conversation, reason])).toEqual([
      ['C1:1600000000.000000', 'not_addressed'],
      ['C1:1700000000.000000', 'not_addressed'],
    ]);
  });

  it('separates the conversations of senders with per_chat: false', async () => {
    const channel = await storeChannel(system, 'telegram', { config: { perChat: false } });
    await sendTelegramMention(channel.deploymentId, 1, 11);
    await sendTelegramMention(channel.deploymentId, 2, 12);
    expect((await listed(channel)).map(({ conversation }) => conversation)).toEqual(['-100:12', '-100:11']);
  });
});
