import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../support/system.ts';
import { expectRefusal, readResponse } from '../envelope.ts';
import { type ChatClient, createChatClient } from './chat-client.ts';

describe('POST /sessions/{session_id}/ai-stream', () => {
  let system: System;
  let client: ChatClient;
  beforeAll(async () => {
    system = await startSystem();
    client = createChatClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('sends the last user message again for regenerate-message, and once per Idempotency-Key', async () => {
    const session = await client.begin([{ text: 'You said {{input}}.' }]);
    const chat = client.chatOf(session);
    await chat.sendMessage({ text: 'one' });
    await chat.regenerate();
    expect(chat.messages).toHaveLength(2);
    expect((await client.api.get(`/sessions/${session}/turns`)).body.data).toHaveLength(2);
    const send = () => client.post(session, '{"content":"two"}', { 'Idempotency-Key': 'once' });
    const first = await send();
    const second = await send();
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(await second.text()).toBe(await first.text());
    expect((await client.api.get(`/sessions/${session}/turns`)).body.data).toHaveLength(3);
  });

  it('returns 400 with the pointer of an unusable message, and validates only the used message', async () => {
    const session = await client.begin([{ text: 'Well.' }]);
    const post = async (body: unknown) => readResponse(await client.post(session, JSON.stringify(body)));
    const user = { id: '1', role: 'user', parts: [{ type: 'text', text: 'hi' }] };
    const file = { type: 'file', mediaType: 'image/png', url: 'data:,' };
    for (const [body, pointer] of [
      [{}, '/content'],
      [{ content: 'a', messages: [user] }, '/messages'],
      [{ content: 'a', model: 'b' }, '/model'],
      [{ messages: [] }, '/messages'],
      [{ messages: [user, { ...user, parts: [user.parts[0], file] }] }, '/messages/1/parts/1/type'],
      [{ messages: [{ role: 'system', parts: user.parts }] }, '/messages/0/role'],
      [{ messages: [{ role: 'assistant', parts: [] }] }, '/messages/0/parts'],
      [{ messages: [{ role: 'assistant', parts: [answer('x')] }] }, '/messages/0/parts/0/approval/id'],
      [{ messages: [{ role: 'assistant' }], trigger: 'regenerate-message' }, '/messages'],
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
    expect((await post({ messages: [older, user] })).status).toBe(200);
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
