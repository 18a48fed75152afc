import type { UIMessage } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import { expectRefusal, readResponse } from '../envelope.ts';
import { ASKS, type ChatClient, createChatClient, SLOW, SUM, textOf } from './chat-client.ts';
import { joined } from './read-stream.ts';
import { SDKS } from './sdk-versions.ts';

const NOWHERE = `ses_${'7'.repeat(26)}`;

describe('GET /sessions/{session_id}/ai-messages', () => {
  let system: System;
  let client: ChatClient;
  beforeAll(async () => {
    system = await startSystem();
    client = createChatClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const get = (session: string, query = '') => client.api.get(`/sessions/${session}/ai-messages${query}`);
  const historyOf = async (session: string) => (await get(session)).body.data as unknown as UIMessage[];
  const textsOf = async (session: string) => (await historyOf(session)).map(textOf);

  it('returns the chat that the streams have shown, valid for both majors', async () => {
    const steps = [
      { thinking: 'Hm.' },
      { text: 'I calculate.' },
      SUM,
      { text: 'It is {{last_tool_output}}.' },
    ];
    const session = await client.begin(steps);
    const chat = client.chatOf(session);
    await chat.sendMessage({ text: 'six times seven?' });
    const { body } = await get(session);
    expect(body).toMatchObject({ code: 'OK', page: { next_cursor: null, has_more: false } });
    const history = body.data as unknown as UIMessage[];
    expect(history.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(history[0]).toMatchObject({ parts: [{ type: 'text', text: 'six times seven?' }] });
    expect(history[1]?.id).toBe(chat.lastMessage?.id);
    expect(history[1]?.parts).toEqual(JSON.parse(JSON.stringify(chat.lastMessage?.parts)));
    for (const { safeValidateUIMessages } of Object.values(SDKS))
      expect(await safeValidateUIMessages({ messages: history })).toMatchObject({ success: true });
  });

  it('refers to the images and files of a message, which a stream accepts as data: URLs', async () => {
    const session = await client.begin([{ text: 'Seen.' }]);
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const file = {
      type: 'file',
      mediaType: 'image/png',
      filename: 'dot.png',
      url: `data:image/png;base64,${png}`,
    };
    const chat = client.chatOf(session);
    await chat.sendMessage({ parts: [{ type: 'text', text: 'Look' }, file as never] });
    expect(chat.error).toBeUndefined();
    const [message] = await historyOf(session);
    const url = expect.stringMatching(new RegExp(`^/api/v1/sessions/${session}/parts/[0-9a-f]{64}$`));
    expect(message?.parts).toEqual([
      { type: 'text', text: 'Look' },
      { ...file, url },
    ]);
  });

  it('is empty before the first message', async () => {
    expect(await historyOf(await client.begin([{ text: 'Well.' }]))).toEqual([]);
  });

  it('shows the message of the user and the answer so far while a turn runs, which a resume replaces', async () => {
    const session = await client.begin([{ ...SLOW[0], text: 'a long story '.repeat(4_000) }]);
    const first = client.chatOf(session);
    const sending = first.sendMessage({ text: 'tell' });
    await until('a part has arrived', () => (first.lastMessage?.parts.length ?? 0) > 1);
    await first.stop();
    await sending;
    const messages = await until('the answer has begun', async () => {
      const found = await historyOf(session);
      return found.length === 2 ? found : undefined;
    });
    expect(messages[0]).toMatchObject({ role: 'user', parts: [{ text: 'tell' }] });
    expect(messages[1]?.parts.at(-1)).toMatchObject({ type: 'text', state: 'streaming' });
    const reloaded = client.chatOf(session, { messages });
    const resuming = reloaded.resumeStream();
    await until('the answer has gone on', () => {
      const shown = reloaded.lastMessage ? textOf(reloaded.lastMessage) : '';
      return shown.length > textOf(messages[1] as UIMessage).length ? shown : undefined;
    });
    expect(reloaded.messages).toHaveLength(2);
    expect('a long story '.repeat(4_000).startsWith(textOf(reloaded.lastMessage as UIMessage))).toBe(true);
    await client.api.post(`/sessions/${session}/interrupt`);
    await resuming;
    expect(joined((await historyOf(session))[1])).toEqual(joined(reloaded.lastMessage));
  });

  it('shows a pending approval request, which a page that has not resumed can answer', async () => {
    const session = await client.begin([SUM, { text: 'Well.' }], { tools: ASKS });
    await client.chatOf(session).sendMessage({ text: 'six times seven?' });
    const messages = await historyOf(session);
    const part = messages[1]?.parts.at(-1);
    if (part?.type !== 'dynamic-tool' || part.state !== 'approval-requested')
      throw new Error('no approval is requested');
    const reloaded = client.chatOf(session, { messages });
    await reloaded.addToolApprovalResponse({ id: part.approval.id, approved: true });
    await reloaded.sendMessage();
    expect(await historyOf(session)).toMatchObject([
      { role: 'user' },
      { parts: [{}, { state: 'output-available', approval: { approved: true } }, {}, { text: 'Well.' }] },
    ]);
  });

  it('leaves out removed turns and replaced answers, and shows queued messages in their order', async () => {
    const session = await client.begin([{ text: 'You said {{input}}.' }]);
    const chat = client.chatOf(session);
    await chat.sendMessage({ text: 'one' });
    const { body } = await client.api.post(`/sessions/${session}/turns/${chat.lastMessage?.id}/regenerate`);
    expect(body.data).toMatchObject({ turn_id: expect.stringMatching(/^trn_/) });
    await client.ended(session);
    const history = await historyOf(session);
    expect(history.map(textOf)).toEqual(['one', 'You said one.']);
    expect(history[1]?.id).toBe(body.data.turn_id);
    await client.api.post(`/sessions/${session}/messages`, { content: 'two' });
    await client.ended(session);
    expect(await textsOf(session)).toEqual(['one', 'You said one.', 'two', 'You said two.']);
  });

  it('has no message of a turn that was removed from the queue', async () => {
    const session = await client.begin([SUM, { text: 'Well.' }], { tools: ASKS });
    await client.chatOf(session).sendMessage({ text: 'one' });
    const send = async (content: string) =>
      String((await client.api.post(`/sessions/${session}/messages`, { content })).body.data.turn_id);
    const removed = await send('two');
    await send('three');
    await client.api.send('DELETE', `/sessions/${session}/turns/${removed}`);
    expect(await textsOf(session)).toEqual(['one', '', 'three']);
  });

  it('shows the messages and tool calls that a fork has copied', async () => {
    const session = await client.begin([SUM, { text: 'It is {{last_tool_output}}.' }]);
    await client.chatOf(session).sendMessage({ text: 'six times seven?' });
    const { last_seq: after_seq } = (await client.api.get(`/sessions/${session}`)).body.data;
    const { body } = await client.api.post(`/sessions/${session}/fork`, { after_seq });
    const [user, answer] = await historyOf(String(body.data.session_id));
    const [, original] = await historyOf(session);
    expect(user).toMatchObject({ role: 'user' });
    expect(answer?.parts).toEqual(original?.parts);
  });

  it('returns older messages behind 16 MiB page by page', async () => {
    const agent = await client.api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'Well.' }] },
    });
    const session = String((await client.api.post(`/agents/${agent}/conversations`)).body.data.session_id);
    for (const content of ['x', 'y', 'z']) {
      await client.api.post(`/sessions/${session}/messages`, { content: content.repeat(7_000_000) });
      await client.ended(session);
    }
    const newest = await get(session);
    expect((newest.body.data as unknown as UIMessage[]).map(textOf).map((text) => text[0])).toEqual([
      'y',
      'W',
      'z',
      'W',
    ]);
    expect(newest.body).toMatchObject({ page: { has_more: true } });
    const older = await get(session, `?cursor=${(newest.body as unknown as Page).page.next_cursor}`);
    expect((older.body.data as unknown as UIMessage[]).map(textOf).map((text) => text[0])).toEqual([
      'x',
      'W',
    ]);
    expect(older.body).toMatchObject({ page: { has_more: false, next_cursor: null } });
  });

  it('returns 400 for another version of AI SDK and a foreign cursor, and 404 for an unknown session', async () => {
    const session = await client.begin([{ text: 'Well.' }]);
    const url = `${system.url}/api/v1/sessions/${session}/ai-messages`;
    for (const version of ['6', '7']) {
      expect((await get(session, `?ai_sdk=${version}`)).status).toBe(200);
      expect((await fetch(url, { headers: { 'x-ahs-ai-sdk': version } })).status).toBe(200);
    }
    for (const version of ['5', '8', '', '06'])
      expectRefusal(await readResponse(await fetch(`${url}?ai_sdk=${version}`)), 'INVALID_REQUEST');
    const headers = { 'x-ahs-ai-sdk': '5' };
    expectRefusal(await readResponse(await fetch(url, { headers })), 'INVALID_REQUEST');
    expectRefusal(await readResponse(await fetch(`${url}?cursor=x`)), 'INVALID_CURSOR');
    expect((await get(NOWHERE)).status).toBe(404);
  });
});

interface Page {
  page: { next_cursor: string };
}
