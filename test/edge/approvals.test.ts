import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import { expectRefusal, readResponse } from './envelope.ts';

const EDITED = '{"expression":"1 + 1","b":[0.1,null,{}],"a":"é \\n \\" , "}';

describe('/sessions/{session_id}/approvals', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function pendingApprovals(...expressions: string[]): Promise<{ session: string; ids: string[] }> {
    const steps = expressions.map((expression) => ({ tool: 'calculator', input: { expression } }));
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [...steps, { text: 'Well.' }] },
      tools: [{ name: 'calculator', permission: 'ask' }],
    });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'go' });
    const session = String(body.data.session_id);
    const ids = await until('the approvals are pending', async () => {
      const { body: page } = await api.get(`/sessions/${session}/approvals?status=pending`);
      const found = page.data as { approval_id: string }[];
      return found.length === expressions.length && found.map((one) => one.approval_id);
    });
    return { session, ids };
  }
  const urlOf = (session: string, id = '') =>
    `${system.url}/api/v1/sessions/${session}/approvals${id && `/${id}`}`;
  const decide = async (session: string, id: string, body: string) =>
    readResponse(
      await fetch(urlOf(session, id), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      }),
    );

  it('lists approvals newest first, in pages and by status', async () => {
    const { session, ids } = await pendingApprovals('1 + 1', '2 + 2', '3 + 3');
    const { body } = await api.get(`/sessions/${session}`);
    expect(body.data).toMatchObject({
      status: 'idle',
      needs_action: true,
      stop_reason: { type: 'requires_action' },
    });
    const first = await api.get(`/sessions/${session}/approvals?limit=2`);
    const second = await api.get(
      `/sessions/${session}/approvals?cursor=${first.body.page?.next_cursor}&limit=2`,
    );
    const all = [...first.body.data, ...second.body.data] as { approval_id: string; input: object }[];
    expect(all.map((one) => one.approval_id)).toEqual(ids);
    expect(all.map((one) => one.input)).toEqual(
      ['3 + 3', '2 + 2', '1 + 1'].map((expression) => ({ expression })),
    );
    await decide(session, ids[0] ?? '', '{"decision":"deny","reason":"no"}');
    const decidedApprovals = await api.get(`/sessions/${session}/approvals?status=decided`);
    expect(decidedApprovals.body.data).toMatchObject([
      { approval_id: ids[0], status: 'decided', decision: 'deny', reason: 'no', edited_input: null },
    ]);
    expectRefusal(await readResponse(await fetch(`${urlOf(session)}?status=open`)), 'INVALID_REQUEST');
  });

  it('returns the input in the exact bytes of its digest', async () => {
    const { session } = await pendingApprovals('1 + 1');
    const text = await (await fetch(urlOf(session))).text();
    const [, input = ''] = /"input":(\{.*?\}),"edited_input":null/.exec(text) ?? [];
    const [, digest] = /"input_sha256":"(\w+)"/.exec(text) ?? [];
    expect(createHash('sha256').update(input).digest('hex')).toBe(digest);
  });

  it('returns the edited input, and the first decision for a repeated one', async () => {
    const { session, ids } = await pendingApprovals('1 + 1');
    const [id = ''] = ids;
    const spaced = JSON.stringify(JSON.parse(EDITED), null, 2);
    const answers = [
      await decide(session, id, `{"reason":"so", "decision":"allow", "edited_input": ${spaced}}`),
      await decide(session, id, `{"edited_input":${EDITED},"decision":"allow","reason":"so"}`),
    ];
    for (const { status, text } of answers) {
      expect(status, text).toBe(200);
      expect(text).toContain(`"edited_input":${EDITED}}`);
    }
    expectRefusal(await decide(session, id, '{"decision":"deny"}'), 'APPROVAL_ALREADY_DECIDED');
  });

  it('returns 400 for invalid decisions', async () => {
    const { session, ids } = await pendingApprovals('1 + 1');
    const [id = ''] = ids;
    for (const body of [
      '{}',
      '{"decision":"maybe"}',
      '{"decision":"retry"}',
      '{"decision":"deny","edited_input":{}}',
      '{"decision":"allow","edited_input":[]}',
      '{"decision":"allow","edited_input":"a"}',
      `{"decision":"deny","reason":"${'x'.repeat(2_001)}"}`,
    ])
      expectRefusal(await decide(session, id, body), 'INVALID_REQUEST');
    expectRefusal(
      await decide(session, `apr_${'7Z'.repeat(13)}`, '{"decision":"allow"}'),
      'APPROVAL_NOT_FOUND',
    );
    expectRefusal(await decide(session, 'apr_x', '{"decision":"allow"}'), 'APPROVAL_NOT_FOUND');
  });
});

describe('session operations', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const idle = (session: string) =>
    until('the session is idle', async () => {
      const { body } = await api.get(`/sessions/${session}`);
      return body.data.status === 'idle' && body.data;
    });

  it('POST …/interrupt has no effect without a current turn', async () => {
    const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
    const { session_id: session, last_seq } = body.data;
    const { status, body: answer } = await api.send('POST', `/sessions/${session}/interrupt`);
    expect([status, answer.data.status, answer.data.last_seq]).toEqual([200, 'idle', last_seq]);
  });

  it('POST …/fork creates one session per Idempotency-Key', async () => {
    const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`, { message: 'one' });
    const session = String(body.data.session_id);
    const { last_seq } = await idle(session);
    const fork = () =>
      api.post(`/sessions/${session}/fork`, { after_seq: last_seq }, { 'Idempotency-Key': 'f' });
    const [first, second] = [await fork(), await fork()];
    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([
      201,
      201,
      'true',
    ]);
    expect(second.body.data.session_id).toBe(first.body.data.session_id);
    const { body: messages } = await api.get(`/sessions/${first.body.data.session_id}/messages`);
    expect(messages.data).toMatchObject([{ role: 'user' }, { role: 'agent' }]);
    const beyond = await api.post(`/sessions/${session}/fork`, { after_seq: 9_999 });
    expect(beyond.body.code).toBe('INVALID_REQUEST');
  });

  it('POST …/agent-version changes the version between turns', async () => {
    const agent = await api.createAgent();
    const { body } = await api.post(`/agents/${agent}/conversations`);
    const session = String(body.data.session_id);
    await api.send('PATCH', `/agents/${agent}`, { system: 'Be brief.' });
    const moved = await api.post(`/sessions/${session}/agent-version`, { version: 2 });
    expect([moved.status, moved.body.data.agent_version]).toEqual([200, 2]);
    const unknown = await api.post(`/sessions/${session}/agent-version`, { version: 3 });
    expect(unknown.body.code).toBe('AGENT_VERSION_NOT_FOUND');
  });

  it('a turn has the seq of the event that queued it', async () => {
    const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`, { message: 'one' });
    const session = String(body.data.session_id);
    await idle(session);
    const turns = await api.get(`/sessions/${session}/turns`);
    const [turn] = turns.body.data as { queued_seq: number }[];
    const seq = turn?.queued_seq ?? 0;
    const queued = await api.get(`/sessions/${session}/events?after_seq=${seq - 1}&limit=1`);
    expect(queued.body.data).toMatchObject([{ type: 'user.message', seq }]);
  });
});
