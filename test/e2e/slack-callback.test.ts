import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi, dataOfCreated } from '../support/api.ts';
import { signatureHeaders } from '../support/products/slack/signature.ts';
import { type System, startSystem } from '../support/system.ts';

const SIGNING_SECRET = '0123456789abcdef0123456789abcdef';

describe('the callback of a Slack channel that no channel worker has connected', () => {
  let system: System;
  let url: string;
  beforeAll(async () => {
    system = await startSystem({ SERVICE_CHANNELS_SLOTS: '0' });
    const api = createApi(system.url);
    const agent = await api.createAgent();
    const credentials = { bot_token: 'xoxb-1-2-slackbotsecret', signing_secret: SIGNING_SECRET };
    const channel = { type: 'channel', provider: 'slack', name: 'Support', config: { mode: 'http' } };
    const { deployment_id: id } = dataOfCreated(
      await api.post(`/admin/agents/${agent}/deployments`, { ...channel, credentials }),
    );
    url = `${system.url}/api/v1/deployments/${id}/callback`;
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const send = (body: string, contentType = 'application/json') => {
    const headers = {
      'content-type': contentType,
      ...signatureHeaders(SIGNING_SECRET, body, new Date()),
    };
    return fetch(url, { method: 'POST', headers, body });
  };

  it('answers the challenge', async () => {
    const response = await send(JSON.stringify({ type: 'url_verification', challenge: 'c0ffee' }));
    expect([response.status, await response.text()]).toEqual([200, 'c0ffee']);
  });

  it.each([
    ['an event', 'application/json', JSON.stringify({ type: 'event_callback', team_id: 'T1', event: {} })],
    ['a click', 'application/x-www-form-urlencoded', 'payload=%7B%22type%22%3A%22block_actions%22%7D'],
    ['a command', 'application/x-www-form-urlencoded', 'command=%2Fagent&text=new&team_id=T1'],
  ])(
    'answers %s with 503 CHANNEL_NOT_READY and Retry-After, so that it is not acknowledged',
    async (_, type, body) => {
      const response = await send(body, type);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
      expect(response.headers.get('x-slack-no-retry')).toBeNull();
      expect(await response.json()).toMatchObject({
        code: 'CHANNEL_NOT_READY',
        data: { retry_after_seconds: 5 },
        error: { retryable: true, category: 'dependency' },
      });
    },
  );
});
