import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../../support/context.ts';
import { until } from '../../../support/wait.ts';
import { type DeploymentsSystem, openDeploymentsSystem, UNKNOWN_DEPLOYMENT } from '../system.ts';
import {
  callback,
  callbacksOf,
  type Headers,
  httpHeaders,
  httpMessage,
  slackEvent,
  storeChannel,
} from './fixtures.ts';

const NOT_FOUND = { code: 'DEPLOYMENT_NOT_FOUND' };
const UNAUTHORIZED = { code: 'DEPLOYMENT_UNAUTHORIZED', message: 'The callback is not authentic.' };

describe.each(TRANSPORTS)('refusals of the ReceiveCallback RPC, %s', (transport) => {
  let system: DeploymentsSystem;

  beforeAll(async () => {
    system = await openDeploymentsSystem(transport);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const { now, listed, sendHttp, sendSlack } = callbacksOf(() => system);

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

  it('refuses callbacks of a disabled channel at once after a hint', async () => {
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
});
