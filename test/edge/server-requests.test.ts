import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import {
  AUTHORIZATION,
  createServerTools,
  FORM_REQUEST,
  LINK_REQUEST,
  STATE,
} from '../support/server-tools.ts';
import { type System, startInProcess } from '../support/system.ts';
import { until } from '../support/wait.ts';
import { type ChatClient, createChatClient } from './ai-stream/chat-client.ts';

interface ShownApproval {
  approval_id: string;
  kind: string;
  status: string;
  decision: string | null;
  details: object | null;
}

describe('approvals of calls to servers', () => {
  const server = createServerTools();
  let system: System;
  let api: Api;
  let client: ChatClient;
  beforeAll(async () => {
    system = await startInProcess({}, server.tools);
    api = createApi(system.url);
    client = createChatClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());
  beforeEach(() => {
    server.isConnected = false;
    server.runs.length = 0;
  });

  const steps = (...tools: string[]) => [...tools.map((tool) => ({ tool, input: {} })), { text: 'Well.' }];
  const approvalsOf = async (session: string) =>
    (await api.get(`/sessions/${session}/approvals`)).body.data as ShownApproval[];

  /** Starts a turn that calls these tools, and waits for the approvals. */
  async function begin(...tools: string[]) {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: steps(...tools) },
    });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'go' });
    const session = String(body.data.session_id);
    const approvals = await until('the turn is blocked', async () => {
      const found = await approvalsOf(session);
      return found.length > 0 && found.toReversed();
    });
    return { session, approvals, id: approvals[0]?.approval_id ?? '' };
  }
  const decide = (session: string, id: string, body: object) =>
    api.post(`/sessions/${session}/approvals/${id}`, body);
  const hasState = (session: string, state: string) =>
    until(`the session is ${state}`, async () => {
      const { body } = await api.get(`/sessions/${session}`);
      return body.data.state === state && body.data;
    });

  it('show their details in lists and events, and make the session need input', async () => {
    const { session, approvals } = await begin('server_act');
    expect(approvals).toMatchObject([
      { kind: 'authorization', status: 'pending', decision: null, details: AUTHORIZATION },
    ]);
    expect(await hasState(session, 'needs_input')).toMatchObject({
      needs_action: true,
      stop_reason: { type: 'requires_action', kind: 'authorization' },
    });
    const { body } = await api.get(`/sessions/${session}/events?types=approval.requested`);
    expect(body.data).toMatchObject([{ data: { kind: 'authorization', details: AUTHORIZATION } }]);
  });

  it('of kind authorization take retry and deny', async () => {
    const { session, id } = await begin('server_act');
    server.isConnected = true;
    const decided = await decide(session, id, { decision: 'retry' });
    expect(decided.body.data).toMatchObject({ status: 'decided', decision: 'retry', details: AUTHORIZATION });
    await hasState(session, 'completed');
    expect(server.runs).toHaveLength(1);
    expect((await decide(session, id, { decision: 'deny' })).body.error).toMatchObject({
      code: 'APPROVAL_ALREADY_DECIDED',
    });
  });

  it.each([
    ['server_act', { decision: 'allow' }, '/decision'],
    ['server_act', { decision: 'retry', content: {} }, '/content'],
    ['server_form', { decision: 'retry' }, '/decision'],
    ['server_form', { decision: 'accept' }, '/content'],
    ['server_form', { decision: 'accept', content: {} }, '/content/branch'],
    ['server_form', { decision: 'accept', content: { branch: 1 } }, '/content/branch'],
    ['server_form', { decision: 'decline', content: { branch: 'main' } }, '/content'],
    ['server_form', { decision: 'accept', content: [] }, '/content'],
  ])('of %s refuse %j with 400 and stay open', async (tool, body, pointer) => {
    const { session, id } = await begin(tool);
    const refused = await decide(session, id, body);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({ details: [{ pointer }] });
    expect(await approvalsOf(session)).toMatchObject([{ status: 'pending' }]);
  });

  it('of a form pass the content to the tool, and show neither it nor the state', async () => {
    const { session, id, approvals } = await begin('server_form');
    expect(approvals).toMatchObject([{ kind: 'input', details: FORM_REQUEST }]);
    const content = { branch: 'canary-branch' };
    const decided = await decide(session, id, { decision: 'accept', content });
    expect(decided.status).toBe(200);
    await hasState(session, 'completed');
    expect(server.runs[1]?.answer).toMatchObject({ decision: 'accept', content });
    expect(Buffer.from(server.runs[1]?.answer?.state ?? []).toString()).toBe(STATE);
    const shown = JSON.stringify([
      decided.body,
      await approvalsOf(session),
      (await api.get(`/sessions/${session}`)).body,
      (
        await api.get(
          `/sessions/${session}/events?types=approval.requested,approval.decided,user.tool_approval`,
        )
      ).body,
    ]);
    const { text } = await exported(session);
    for (const form of ['utf8', 'base64', 'hex'] as const)
      for (const one of [shown, text])
        expect(one).not.toContain(Buffer.from(STATE).toString(form).replaceAll('=', ''));
    expect(shown).not.toContain('canary-branch');
  });

  async function exported(session: string) {
    const response = await fetch(`${system.url}/api/v1/sessions/${session}/export`);
    return { text: await response.text() };
  }

  describe('in an AI SDK stream', () => {
    it.each(['6', '7'])(
      'are a data part beside the approval request of the call, version %s',
      async (version) => {
        const session = await client.begin(steps('server_act', 'server_act'));
        const response = await fetch(`${client.urlOf(session)}?ai_sdk=${version}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ content: 'go' }),
        });
        const chunks = (await response.text())
          .split('\n')
          .filter((line) => line.startsWith('data: {'))
          .map((line) => JSON.parse(line.slice('data: '.length)));
        const [{ approval_id: id } = { approval_id: '' }] = await approvalsOf(session);
        expect(chunks.filter(({ type }) => type === 'data-approval')).toEqual([
          {
            type: 'data-approval',
            id,
            data: { approval_id: id, kind: 'authorization', details: AUTHORIZATION },
          },
        ]);
        expect(chunks.filter(({ type }) => type === 'tool-approval-request')).toMatchObject([
          { approvalId: id, reason: 'authorization' },
        ]);
        expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'tool-calls' });
      },
    );

    it.each([
      ['server_act', true, 'output-available', undefined],
      ['server_act', false, 'output-denied', undefined],
      ['server_link', true, 'output-available', 'accept'],
      ['server_form', false, 'output-available', 'decline'],
    ])('of %s are decided by an approval response with %s', async (tool, approved, state, decision) => {
      const session = await client.begin(steps(tool));
      const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
      const chat = client.chatOf(session, { sendAutomaticallyWhen });
      await chat.sendMessage({ text: 'go' });
      const part = chat.lastMessage?.parts.find(({ type }) => type === 'dynamic-tool');
      if (part?.type !== 'dynamic-tool' || part.state !== 'approval-requested')
        throw new Error('no approval was requested');
      server.isConnected = true;
      await chat.addToolApprovalResponse({ id: part.approval.id, approved });
      await until(
        'the turn has ended',
        () => chat.status === 'ready' && chat.lastMessage?.parts.at(-1)?.type === 'text',
      );
      expect(chat.error).toBeUndefined();
      const ended = chat.lastMessage?.parts.find(({ type }) => type === 'dynamic-tool');
      expect(ended).toMatchObject({ state });
      expect(server.runs.at(-1)?.answer?.decision).toBe(decision);
    });

    it('are in the history with the same parts', async () => {
      const session = await client.begin(steps('server_link'));
      const chat = client.chatOf(session);
      await chat.sendMessage({ text: 'go' });
      const messages = await api.list<{ parts: { type: string; data?: object }[] }>(
        `/sessions/${session}/ai-messages`,
      );
      const [shown] = messages.at(-1)?.parts.filter(({ type }) => type === 'data-approval') ?? [];
      expect(shown?.data).toMatchObject({ kind: 'input', details: LINK_REQUEST });
      expect(chat.lastMessage?.parts.find(({ type }) => type === 'data-approval')).toEqual(shown);
    });
  });
});
