import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi, type Webhook } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

const MIB = 1024 * 1024;

describe('POST /deployments/{deployment_id}/trigger with SERVICE_WEBHOOK_MAX_BODY_BYTES of 60 MiB', () => {
  let system: System;
  let api: Api;
  let agent: string;
  let webhook: Webhook;
  beforeAll(async () => {
    system = await startSystem({ SERVICE_WEBHOOK_MAX_BODY_BYTES: String(60 * MIB) });
    api = createApi(system.url);
    agent = await api.createAgent();
    webhook = await api.createWebhook(agent);
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  const invocations = async () => {
    const { body } = await api.get(`/admin/agents/${agent}/deployments/${webhook.id}/invocations`);
    return body.data as unknown as { result: string; reason: string; size: number }[];
  };

  it('starts a session for a body of 12 MiB', async () => {
    const answer = await api.trigger(webhook, new Uint8Array(Buffer.alloc(12 * MIB, 'x')));
    expect(answer.status).toBe(200);
    const { status } = await api.get(`/sessions/${answer.body.data.session_id}`);
    expect(status).toBe(200);
  });

  it.each([
    ['NUL bytes, which take six bytes each as JSON', 11, 0x00],
    ['invalid UTF-8 bytes, which take three bytes each', 22, 0xff],
  ])('returns 413 and creates no session for signed %s beyond 64 MiB of JSON', async (_, mebibytes, byte) => {
    const sessions = async () => (await api.get('/sessions')).body.data.length;
    const before = await sessions();
    const answer = await api.trigger(webhook, new Uint8Array(Buffer.alloc(mebibytes * MIB, byte)));
    expect([answer.status, answer.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(await sessions()).toBe(before);
    await until('the refusal is in the invocation log', async () =>
      (await invocations()).some(
        ({ result, reason, size }) =>
          result === 'refused' && reason === 'too_large' && size === mebibytes * MIB,
      ),
    );
  });

  it('checks the signature of such a body first', async () => {
    const body = new Uint8Array(Buffer.alloc(11 * MIB));
    const headers = {
      'X-WEBHOOK-TIMESTAMP': String(Math.floor(Date.now() / 1000)),
      'X-WEBHOOK-SIGNATURE': 'A'.repeat(43),
    };
    const answer = await api.trigger(webhook, body, headers);
    expect([answer.status, answer.body.code]).toEqual([401, 'DEPLOYMENT_UNAUTHORIZED']);
  });
});
