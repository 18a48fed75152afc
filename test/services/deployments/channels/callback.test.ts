import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InboundEvent } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { Delivery } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import { TRANSPORTS } from '../../../support/context.ts';
import { until } from '../../../support/wait.ts';
import {
  type DeploymentsSystem,
  OWNER,
  openDeploymentsSystem,
  STRANGER,
  UNKNOWN_DEPLOYMENT,
} from '../system.ts';
import {
  APPROVAL,
  callback,
  type Headers,
  httpHeaders,
  httpMessage,
  IDENTITIES,
  slackHeaders,
  storeChannel,
  TELEGRAM_SECRET,
} from './fixtures.ts';

const NOT_FOUND = { code: 'DEPLOYMENT_NOT_FOUND' };
const UNAUTHORIZED = { code: 'DEPLOYMENT_UNAUTHORIZED', message: 'The callback is not authentic.' };

describe.each(TRANSPORTS)('ReceiveCallback RPC, %s', (transport) => {
  let system: DeploymentsSystem;

  beforeAll(async () => {
    system = await openDeploymentsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const now = () => system.context.clock.now();

  async function listed(
    reference: { agentId: string; deploymentId: string },
    result = '',
  ): Promise<Delivery[]> {
    const request = { ...reference, page: undefined, result };
    return (await system.edge.listDeliveries(request, { caller: OWNER })).deliveries;
  }

  /** Sends a signed message of the provider http. */
  async function sendHttp(deploymentId: string, body: string) {
    const answer = await system.edge.receiveCallback(callback(deploymentId, body, httpHeaders(body, now())));
    return { ...answer, data: JSON.parse(Buffer.from(answer.body).toString()).data };
  }

  function slackEvent(event: object, members: object = {}): string {
    return JSON.stringify({
      type: 'event_callback',
      team_id: 'T0TEAM',
      api_app_id: 'A0APP',
      event_id: 'Ev1',
      event: { type: 'message', user: 'U1', ...event },
      ...members,
    });
  }

  const sendSlack = (deploymentId: string, body: string) =>
    system.edge.receiveCallback(callback(deploymentId, body, slackHeaders(body, now())));

  /** Sends a message of a group that mentions the bot. `from` is the id of its sender. */
  async function sendTelegramMention(deploymentId: string, id: number, from: number) {
    const message = {
      ...{ message_id: id, date: 1_700_000_000, from: { id: from, first_name: 'P' } },
      chat: { id: -100, type: 'supergroup', title: 'Team' },
      text: '@order_desk_bot hi',
      entities: [{ type: 'mention', offset: 0, length: 15 }],
    };
    const body = JSON.stringify({ update_id: id, message });
    const headers: Headers = [['x-telegram-bot-api-secret-token', TELEGRAM_SECRET]];
    return system.edge.receiveCallback(callback(deploymentId, body, headers));
  }

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

  describe('the order of the checks', () => {
    const everythingWrong = { oversize: true, headers: [] };

    it('1: returns the same DEPLOYMENT_NOT_FOUND for unknown and disabled channels and other types', async () => {
      const disabled = await storeChannel(system, 'http');
      await system.sql(`update deployments set status = 'disabled' where deployment_id = $1`, [
        disabled.deploymentId,
      ]);
      const webhook = await system.create();
      const body = httpMessage('m1');
      for (const changes of [{}, everythingWrong])
        for (const id of [
          disabled.deploymentId,
          webhook.deployment.deploymentId,
          UNKNOWN_DEPLOYMENT,
          '',
          'x\0',
        ])
          await expect(
            system.edge.receiveCallback({ ...callback(id, body, httpHeaders(body, now())), ...changes }),
          ).rejects.toMatchObject(NOT_FOUND);
      await until('the events are listed', async () => (await listed(disabled)).length === 2);
      expect(await listed(disabled)).toMatchObject([
        { result: 'refused', reason: 'disabled', kind: 'other' },
        { result: 'refused', reason: 'disabled' },
      ]);
    });

    it('2: returns PAYLOAD_TOO_LARGE for a long body with any signature', async () => {
      const channel = await storeChannel(system, 'slack');
      const long = callback(channel.deploymentId, Buffer.alloc(1024 * 1024 + 1), []);
      await expect(system.edge.receiveCallback(long)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
      const cut = { ...callback(channel.deploymentId, '', []), ...everythingWrong };
      await expect(system.edge.receiveCallback(cut)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
      await until('the events are listed', async () => (await listed(channel, 'refused')).length === 2);
      expect((await listed(channel)).map(({ reason }) => reason)).toEqual(['too_large', 'too_large']);
    });

    it('3: returns DEPLOYMENT_UNAUTHORIZED without the reason, which is listed', async () => {
      const channel = await storeChannel(system, 'http');
      const body = httpMessage('m1');
      const headers = httpHeaders(body, now());
      const wrong: [Headers, string][] = [
        [[], 'missing_id'],
        [[...headers, ...headers.slice(2)], 'duplicate_signature'],
        [httpHeaders(`${body} `, now()), 'bad_signature'],
        [httpHeaders(body, new Date(now().getTime() - 310_000)), 'stale_timestamp'],
      ];
      for (const [given] of wrong)
        await expect(
          system.edge.receiveCallback(callback(channel.deploymentId, body, given)),
        ).rejects.toMatchObject(UNAUTHORIZED);
      await until('the events are listed', async () => (await listed(channel)).length === wrong.length);
      const reasons = (await listed(channel)).map(({ result, reason }) => `${result} ${reason}`);
      expect(reasons.reverse()).toEqual(wrong.map(([, reason]) => `refused ${reason}`));
    });

    it('4: returns INVALID_REQUEST with pointers for a body of another form, only for the provider http', async () => {
      const channel = await storeChannel(system, 'http');
      for (const [body, pointer] of [
        ['[]', ''],
        ['{"type":"message"}', '/conversation'],
        [JSON.stringify({ ...JSON.parse(httpMessage('m1')), extra: 1 }), '/extra'],
      ] as const)
        await expect(
          system.edge.receiveCallback(callback(channel.deploymentId, body, httpHeaders(body, now()))),
        ).rejects.toMatchObject({
          code: 'INVALID_REQUEST',
          details: expect.arrayContaining([expect.objectContaining({ pointer })]),
        });
      await until('the events are listed', async () => (await listed(channel, 'refused')).length === 3);
      const slack = await storeChannel(system, 'slack');
      for (const body of ['[]', 'no JSON', '{}', '{"type":"event_callback"}'])
        expect(await sendSlack(slack.deploymentId, body)).toMatchObject({ status: 200 });
      await until('the events are listed', async () => (await listed(slack, 'ignored')).length === 4);
      expect(await listed(slack, 'pending')).toEqual([]);
    });
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

  it.each([
    ['app_mismatch', { api_app_id: 'A9' }],
    ['team_mismatch', { team_id: 'T9' }],
  ])('refuses a signed event of Slack with the reason %s', async (reason, members) => {
    const channel = await storeChannel(system, 'slack');
    const body = slackEvent(
      { channel: 'D1', channel_type: 'im', ts: '1700000000.000100', text: 'hi' },
      members,
    );
    await expect(sendSlack(channel.deploymentId, body)).rejects.toMatchObject(UNAUTHORIZED);
    await until('the events are listed', async () => (await listed(channel)).length === 1);
    expect(await listed(channel)).toMatchObject([{ result: 'refused', reason }]);
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

  it('recognizes a mention as soon as the identity of the bot is stored, without a hint', async () => {
    const channel = await storeChannel(system, 'telegram', { identity: null });
    await sendTelegramMention(channel.deploymentId, 1, 11);
    await until('the first mention is listed', async () => (await listed(channel)).length === 1);
    await system.sql('update channels set identity = $2 where deployment_id = $1', [
      channel.deploymentId,
      JSON.stringify(IDENTITIES.telegram),
    ]);
    await sendTelegramMention(channel.deploymentId, 2, 11);
    expect((await listed(channel)).map(({ result, reason }) => `${result} ${reason}`.trim())).toEqual([
      'pending',
      'ignored not_addressed',
    ]);
  });

  it('counts a flood of refused and ignored callbacks in few rows', async () => {
    const channel = await storeChannel(system, 'slack');
    const bot = slackEvent({ channel: 'C1', ts: '1700000000.000100', text: 'x', bot_id: 'B9' });
    for (let n = 0; n < 60; n++) {
      await sendSlack(channel.deploymentId, bot);
      await system.edge
        .receiveCallback(callback(channel.deploymentId, bot, []))
        .catch((error: unknown) => expect(error).toMatchObject(UNAUTHORIZED));
    }
    await until(
      'the events are listed',
      async () => (await listed(channel)).reduce((sum, { count }) => sum + count, 0) === 120,
    );
    expect((await listed(channel)).length).toBeLessThan(40);
  });

  it('uses a changed secret at once after a hint', async () => {
    const channel = await storeChannel(system, 'http');
    await sendHttp(channel.deploymentId, httpMessage('m1'));
    await system.sql(`update deployments set status = 'disabled' where deployment_id = $1`, [
      channel.deploymentId,
    ]);
    system.context.bus.publish('channels.changed', channel.deploymentId);
    await system.context.bus.awaitPropagation(1_000);
    await expect(sendHttp(channel.deploymentId, httpMessage('m2'))).rejects.toMatchObject(NOT_FOUND);
  });

  it('stores nothing for a channel that is disabled while the cache is older', async () => {
    const channel = await storeChannel(system, 'http');
    await sendHttp(channel.deploymentId, httpMessage('m1'));
    await system.sql(`update channels set is_enabled = false where deployment_id = $1`, [
      channel.deploymentId,
    ]);
    await expect(sendHttp(channel.deploymentId, httpMessage('m2'))).rejects.toMatchObject(NOT_FOUND);
    expect(await listed(channel)).toHaveLength(1);
  });

  it('accepts events before the identity of the bot is known', async () => {
    const channel = await storeChannel(system, 'slack', { identity: null });
    const body = slackEvent({ channel: 'D1', channel_type: 'im', ts: '1700000000.000100', text: 'hi' });
    await sendSlack(channel.deploymentId, body);
    expect(await listed(channel, 'pending')).toHaveLength(1);
    expect(IDENTITIES.slack.teamId).toBe('T0TEAM');
  });

  describe('ListDeliveries', () => {
    it('returns pages, newest first, and refuses the cursor of other filters', async () => {
      const channel = await storeChannel(system, 'http');
      for (let n = 0; n < 5; n++) await sendHttp(channel.deploymentId, httpMessage(`m${n}`));
      const request = { ...channel, result: '' };
      const first = await system.edge.listDeliveries(
        { ...request, page: { limit: 3, cursor: '' } },
        { caller: OWNER },
      );
      const cursor = first.page?.nextCursor ?? '';
      const rest = await system.edge.listDeliveries(
        { ...request, page: { limit: 3, cursor } },
        { caller: OWNER },
      );
      const ids = [...first.deliveries, ...rest.deliveries].map(({ deliveryId }) => deliveryId);
      expect(ids).toHaveLength(5);
      expect(ids).toEqual(ids.toSorted().reverse());
      const foreign = { ...request, result: 'pending', page: { limit: 3, cursor } };
      await expect(system.edge.listDeliveries(foreign, { caller: OWNER })).rejects.toMatchObject({
        code: 'INVALID_CURSOR',
      });
    });

    it('hides the deliveries from strangers and refuses other types', async () => {
      const channel = await storeChannel(system, 'http');
      const page = undefined;
      await expect(
        system.edge.listDeliveries({ ...channel, page, result: '' }, { caller: STRANGER }),
      ).rejects.toMatchObject(NOT_FOUND);
      const { deployment } = await system.create();
      const reference = { agentId: deployment.agentId, deploymentId: deployment.deploymentId };
      await expect(
        system.edge.listDeliveries({ ...reference, page, result: '' }, { caller: OWNER }),
      ).rejects.toMatchObject({ code: 'NOT_A_CHANNEL' });
    });
  });
});
