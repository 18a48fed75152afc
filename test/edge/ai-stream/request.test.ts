import { DefaultChatTransport, type UIMessage } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../support/system.ts';
import { expectRefusal, readResponse } from '../envelope.ts';
import { ASKS, type ChatClient, createChatClient, lastOf, SUM } from './chat-client.ts';

describe('POST /sessions/{session_id}/ai-stream', () => {
  let system: System;
  let client: ChatClient;
  beforeAll(async () => {
    system = await startSystem();
    client = createChatClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('replaces the last answer for regenerate-message, and starts one turn per Idempotency-Key', async () => {
    const session = await client.begin([{ text: 'You said {{input}}.' }]);
    const chat = client.chatOf(session);
    await chat.sendMessage({ text: 'one' });
    await chat.regenerate();
    expect(chat.messages).toHaveLength(2);
    const turns = (await client.api.get(`/sessions/${session}/turns`)).body.data as { turn_id: string }[];
    expect(turns).toMatchObject([{ replaces_turn_id: null }, { replaces_turn_id: turns[0]?.turn_id }]);
    expect(chat.lastMessage?.id).toBe(turns[1]?.turn_id);
    expect(lastOf(chat)).toMatchObject([{}, { text: 'You said one.' }]);
    const send = () => client.post(session, '{"content":"two"}', { 'Idempotency-Key': 'once' });
    const first = await send();
    const second = await send();
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(await second.text()).toBe(await first.text());
    expect((await client.api.get(`/sessions/${session}/turns`)).body.data).toHaveLength(3);
  });

  it('regenerates only the answer to the last message, and recommends a fork for earlier ones', async () => {
    const session = await client.begin([{ text: 'You said {{input}}.' }]);
    const chat = client.chatOf(session);
    await chat.sendMessage({ text: 'one' });
    const [, first] = chat.messages;
    await chat.sendMessage({ text: 'two' });
    const { messages } = chat;
    for (const messageId of [first?.id, messages[0]?.id]) {
      const stale = client.chatOf(session, { messages: structuredClone(messages) });
      await stale.regenerate({ messageId: messageId ?? '' });
      expect(stale.error?.message).toContain('TURN_NOT_LAST');
      expect(stale.error?.message).toContain('fork');
    }
    for (const index of [2, 3]) {
      const fresh = client.chatOf(session, { messages: structuredClone(messages) });
      await fresh.regenerate({ messageId: messages[index]?.id ?? '' });
      expect(fresh.error).toBeUndefined();
      expect(lastOf(fresh)).toMatchObject([{}, { text: 'You said two.' }]);
      messages.splice(3, 1, ...fresh.messages.slice(3));
    }
    const plain = await client.post(session, '{"trigger":"regenerate-message"}');
    expect(await plain.text()).toContain('two');
  });

  it('renders for AI SDK 6 if the header or the query says so, and refuses other versions', async () => {
    const steps = [{ text: 'Hel' }, { error: { kind: 'cut_stream' }, times: 1 }, { text: 'lo' }];
    const session = await client.begin(steps);
    const stream = async (query: string, headers: Record<string, string> = {}) => {
      const response = await fetch(client.urlOf(session) + query, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: '{"content":"hi"}',
      });
      return readResponse(response);
    };
    expect((await stream('')).status).toBe(200);
    for (const [query, headers] of [
      ['?ai_sdk=6', {}],
      ['', { 'x-ahs-ai-sdk': '6' }],
      ['?ai_sdk=6', { 'x-ahs-ai-sdk': '7' }],
    ] as const)
      expect((await stream(query, headers)).text).not.toContain('reset-step');
    for (const [query, headers] of [
      ['?ai_sdk=5', {}],
      ['', { 'x-ahs-ai-sdk': '7.0' }],
    ] as const)
      expectRefusal(await stream(query, headers), 'INVALID_REQUEST');
  });

  it('applies the overrides in the body of the transport to messages and regenerations', async () => {
    const steps = [{ text: 'You said {{input}}.' }];
    const overridable = ['model', 'max_steps'];
    const session = await client.begin(steps, { overridable, max_steps: 9 });
    const chatWith = (body: object, messages: UIMessage[] = []) => {
      const transport = new DefaultChatTransport<UIMessage>({ api: client.urlOf(session), body });
      return client.chatOf(session, { transport, messages });
    };
    const chat = chatWith({ model: 'rehearsal/echo', max_steps: 3 });
    await chat.sendMessage({ text: 'one' });
    expect(lastOf(chat)).toMatchObject([{}, { text: 'one' }]);
    const other = chatWith({ max_steps: 4 }, structuredClone(chat.messages));
    await other.regenerate();
    expect(lastOf(other)).toMatchObject([{}, { text: 'You said one.' }]);
    const same = chatWith({}, structuredClone(other.messages));
    await same.regenerate();
    expect(lastOf(same)).toMatchObject([{}, { text: 'You said one.' }]);
    const { body } = await client.api.get(`/sessions/${session}/events?types=turn.queued`);
    const overrides = (body.data as { data: object }[]).map(({ data }) => data);
    expect(overrides).toMatchObject([
      { overrides: { model: 'rehearsal/echo', max_steps: 3 } },
      { overrides: { max_steps: 4 } },
      { overrides: { max_steps: 4 } },
    ]);
  });

  it('applies the overrides of POST …/turns/{turn_id}/regenerate, and without them those of the replaced turn', async () => {
    const overridable = ['max_steps'];
    const session = await client.begin([{ text: 'Well.' }], { overridable, max_steps: 9 });
    await client.chatOf(session).sendMessage({ text: 'one' });
    for (const body of [{ max_steps: 4 }, undefined]) {
      const { body: turns } = await client.api.get(`/sessions/${session}/turns`);
      const last = (turns.data as { turn_id: string }[]).at(-1);
      const path = `/sessions/${session}/turns/${last?.turn_id}/regenerate`;
      expect((await client.api.post(path, body)).status).toBe(202);
      await client.ended(session);
    }
    const { body } = await client.api.get(`/sessions/${session}/events?types=turn.queued`);
    const queued = (body.data as { data: { overrides?: object } }[]).map(({ data }) => data.overrides);
    expect(queued).toEqual([undefined, { max_steps: 4 }, { max_steps: 4 }]);
  });

  it('refuses overrides like POST …/messages and …/regenerate do', async () => {
    const session = await client.begin([{ text: 'Well.' }], { overridable: ['max_steps'] });
    await client.chatOf(session).sendMessage({ text: 'one' });
    const turns = async () => (await client.api.get(`/sessions/${session}/turns`)).body.data;
    const before = (await turns()) as { turn_id: string }[];
    const post = async (members: object) =>
      readResponse(await client.post(session, JSON.stringify({ content: 'a', ...members })));
    for (const [members, code, pointer] of [
      [{ model: 'rehearsal/echo' }, 'OVERRIDE_NOT_ALLOWED', '/model'],
      [{ max_steps: 0 }, 'INVALID_REQUEST', '/max_steps'],
      [{ client_tools: [{ name: 'a' }] }, 'INVALID_REQUEST', '/client_tools/0/description'],
    ] as const) {
      const answers = [
        await post(members),
        await post({ content: undefined, trigger: 'regenerate-message', ...members }),
        await readResponse(
          await fetch(`${system.url}/api/v1/sessions/${session}/messages`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ content: 'a', ...members }),
          }),
        ),
        await readResponse(
          await fetch(`${system.url}/api/v1/sessions/${session}/turns/${before[0]?.turn_id}/regenerate`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(members),
          }),
        ),
      ];
      for (const answer of answers)
        expect(expectRefusal(answer, code).map((one) => one.pointer)).toContain(pointer);
    }
    expect(await turns()).toEqual(before);
  });

  it('accepts overrides beside the answers to a turn, which keeps its settings', async () => {
    const session = await client.begin([SUM, { text: 'Done.' }], { tools: ASKS });
    const transport = new DefaultChatTransport<UIMessage>({
      api: client.urlOf(session),
      body: () => (approved ? { model: 'rehearsal/echo' } : {}),
    });
    let approved = false;
    const chat = client.chatOf(session, { transport });
    await chat.sendMessage({ text: 'go' });
    const call = chat.lastMessage?.parts.find((part) => part.type === 'dynamic-tool');
    if (call?.state !== 'approval-requested') throw new Error('no approval was requested');
    approved = true;
    await chat.addToolApprovalResponse({ id: call.approval.id, approved: true });
    await chat.sendMessage();
    expect(chat.error).toBeUndefined();
    expect(lastOf(chat).at(-1)).toMatchObject({ text: 'Done.' });
  });

  it('returns 400 with the pointer of an unusable message, and validates only the used message', async () => {
    const session = await client.begin([{ text: 'Well.' }]);
    const post = async (body: unknown) => readResponse(await client.post(session, JSON.stringify(body)));
    const user = { id: '1', role: 'user', parts: [{ type: 'text', text: 'hi' }] };
    const data = { type: 'data-mood', data: { happy: true } };
    const file = { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' };
    const source = { type: 'source-url', sourceId: 'a', url: 'https://example.com' };
    for (const [body, pointer] of [
      [{}, '/content'],
      [{ content: 'a', messages: [user] }, '/messages'],
      [{ content: 'a', models: 'b' }, '/models'],
      [{ messages: [] }, '/messages'],
      [{ messages: [user, { ...user, parts: [user.parts[0], file] }] }, '/messages/1/parts/1/url'],
      [{ messages: [user, { ...user, parts: [user.parts[0], source] }] }, '/messages/1/parts/1/type'],
      [{ messages: [{ role: 'system', parts: user.parts }] }, '/messages/0/role'],
      [{ messages: [{ role: 'assistant', parts: [] }] }, '/messages/0/parts'],
      [{ messages: [{ role: 'assistant', parts: [answer('x')] }] }, '/messages/0/parts/0/approval/id'],
      [{ messages: [{ role: 'assistant' }], trigger: 'regenerate-message' }, '/messages'],
      [{ content: 'a', trigger: 'regenerate-message' }, '/content'],
      [{ messages: [{ ...user, parts: [] }] }, '/messages/0/parts'],
      [{ messages: [{ ...user, parts: [data] }] }, '/messages/0/parts'],
    ] as const) {
      const details = expectRefusal(await post(body), 'INVALID_REQUEST');
      expect(
        details.map((one) => one.pointer),
        JSON.stringify(body),
      ).toContain(pointer);
    }
    const unknown = { role: 'assistant', parts: [answer(`apr_${'7'.repeat(26)}`)] };
    expectRefusal(await post({ messages: [unknown] }), 'APPROVAL_NOT_FOUND');
    expectRefusal(await post({ content: 'a\0' }), 'INVALID_TEXT');
    // A NUL byte is no JSON, also in a member that is not used.
    const notJson = await client.post(session, '{"content":"a","id":"\0"}');
    expect(expectRefusal(await readResponse(notJson), 'INVALID_TEXT')).toMatchObject([{ pointer: '/id' }]);
    const older = { role: 'assistant', parts: [{ type: 'dynamic-tool', output: 'binary \0 \ud800' }] };
    expect((await post({ messages: [older, { ...user, parts: [data, ...user.parts] }] })).status).toBe(200);
    expectRefusal(
      await readResponse(await fetch(`${client.urlOf(session)}?after_seq=99999`)),
      'INVALID_CURSOR',
    );
    expect((await fetch(client.urlOf(session), { method: 'HEAD' })).status).toBe(204);
  });
});

const answer = (id: string) => ({
  type: 'dynamic-tool',
  state: 'approval-responded',
  approval: { id, approved: true },
});
