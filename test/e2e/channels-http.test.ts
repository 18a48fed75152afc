import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi, dataOfCreated } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

interface Post {
  post_id: string;
  revision: number;
  conversation: string;
  kind: string;
  text: string;
  final: boolean;
  session_id: string | null;
  approval?: { approval_id: string; decision: string | null } | null;
}

const STEPS = [
  { tool: 'calculator', input: { expression: '6*7' } },
  { text: 'The answer is {{last_tool_output}}.' },
];

describe('a channel with the provider http', () => {
  let system: System;
  let api: Api;
  let path: string;
  let channel: { id: string; secret: string };
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: STEPS },
      tools: [{ name: 'calculator', permission: 'ask' }],
    });
    path = `/admin/agents/${agent}/deployments`;
    const created = dataOfCreated(
      await api.post(path, { type: 'channel', provider: 'http', name: 'Chat', config: {} }),
    );
    channel = { id: String(created.deployment_id), secret: String(created.shared_secret) };
  });
  afterAll(() => system[Symbol.asyncDispose]());

  function headers(payload: string): Record<string, string> {
    const id = `msg_${Math.random()}`;
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const key = Buffer.from(channel.secret.replace('whsec_', ''), 'base64');
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64');
    return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  }

  async function send(event: object): Promise<void> {
    const body = JSON.stringify({ conversation: 'room', user: { id: 'u1', name: 'Ada' }, ...event });
    const url = `${system.url}/api/v1/deployments/${channel.id}/callback`;
    const response = await fetch(url, { method: 'POST', body, headers: headers(body) });
    expect([response.status, response.status === 202 || (await response.text())]).toEqual([202, true]);
  }

  /** The newest revision of each post. */
  async function pull(): Promise<Post[]> {
    const target = `/api/v1/deployments/${channel.id}/posts?wait_seconds=0`;
    const response = await fetch(`${system.url}${target}`, { headers: headers(target) });
    const { data } = (await response.json()) as { data: { posts: Post[] } };
    return data.posts;
  }

  const posted = (what: string, find: (post: Post) => unknown) =>
    until(what, async () => (await pull()).find((post) => find(post)));

  it('links an account, starts a session, decides an approval by a click, and answers in one post', async () => {
    await send({ type: 'message', message: { id: 'm1', text: 'What is 6*7?' } });
    const offer = await posted('a link is offered', ({ text }) => text.includes('/link/'));
    const [, code] = /\/link\/([\w-]+)/.exec(offer.text) ?? [];
    expect((await api.post(`/auth/link-codes/${code}`, {})).status).toBe(201);

    await send({ type: 'message', message: { id: 'm2', text: 'What is 6*7?' } });
    const question = await posted('the approval is asked for', ({ kind }) => kind === 'approval');
    expect(question.text).toContain('calculator');
    const approvalId = question.approval?.approval_id;
    await send({ type: 'action', action: { id: 'a1', approval_id: approvalId, decision: 'allow' } });
    // The link of the notice can have the digits of the answer, too.
    const isAnswer = ({ kind, text, final }: Post) => kind === 'message' && final && text.includes('42');
    const answer = await posted('the answer is posted', isAnswer);
    expect(answer.conversation).toBe('room');
    const decided = await posted('the decision is shown', ({ approval }) => approval?.decision === 'allowed');
    expect(decided.post_id).toBe(question.post_id);
    expect(decided.text).toContain('Allowed by Ada.');

    const { body } = await api.get(`/sessions/${answer.session_id}`);
    expect(body.data).toMatchObject({ status: 'idle', deployment_id: channel.id });
    const deliveries = await api.list<{ kind: string; result: string }>(`${path}/${channel.id}/deliveries`);
    expect(deliveries.filter(({ result }) => result === 'accepted').map(({ kind }) => kind)).toEqual([
      'action',
      'message',
    ]);
  });
});
