import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../support/system.ts';
import { expectRefusal, readResponse } from '../envelope.ts';
import { type ChatClient, createChatClient, lastOf } from './chat-client.ts';

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
      [{ content: 'a', model: 'b' }, '/model'],
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
