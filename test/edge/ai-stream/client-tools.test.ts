import { createHash } from 'node:crypto';
import { lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import { ASKS, type ChatClient, chunksFrom, createChatClient, lastOf, SUM } from './chat-client.ts';
import type { MemoryChat } from './memory-chat.ts';

const TOOL = {
  type: 'client',
  name: 'get_location',
  description: 'Locates the device.',
  input_schema: { type: 'object', properties: { precise: { type: 'boolean' } } },
};
const LOCATE = { tool: 'get_location', input: { precise: true } };
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const END = { text: 'It is {{last_tool_output}}.' };
const FORM = {
  type: 'object',
  properties: { size: { type: 'string', enum: ['S', 'L'] } },
  required: ['size'],
};
const ASK = { tool: 'ask_user', input: { question: 'Which size?', schema: FORM } };

describe('POST /sessions/{session_id}/ai-stream with client tools of AI SDK', () => {
  let system: System;
  let client: ChatClient;
  beforeAll(async () => {
    system = await startSystem();
    client = createChatClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithToolCalls;
  /** A chat whose page runs get_location as soon as it is called. */
  const locatingChat = (
    session: string,
    called: unknown[],
    output: unknown = { latitude: 52.5 },
  ): MemoryChat => {
    const chat: MemoryChat = client.chatOf(session, {
      sendAutomaticallyWhen,
      onToolCall({ toolCall }) {
        called.push([toolCall.toolName, toolCall.input, toolCall.dynamic]);
        if (toolCall.dynamic) return;
        void chat.addToolOutput({
          tool: toolCall.toolName,
          toolCallId: toolCall.toolCallId,
          output,
        } as never);
      },
    });
    return chat;
  };
  const ends = (session: string, chat: MemoryChat) =>
    until('the chat has ended', async () => {
      const { body } = await client.api.get(`/sessions/${session}`);
      return body.data.state === 'completed' && chat.status === 'ready';
    });
  const parts = (chat: MemoryChat) => lastOf(chat) as UIMessage['parts'];

  it('runs the tool in the page with onToolCall and addToolOutput, and continues the same message', async () => {
    const session = await client.begin([{ text: 'I look.' }, LOCATE, END], { tools: [TOOL] });
    const called: unknown[] = [];
    const chat = locatingChat(session, called);
    await chat.sendMessage({ text: 'where am I?' });
    await ends(session, chat);
    expect(chat.error).toBeUndefined();
    expect(called).toEqual([['get_location', { precise: true }, undefined]]);
    expect(parts(chat)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'I look.' },
      { type: 'tool-get_location', state: 'output-available', output: { latitude: 52.5 } },
      { type: 'step-start' },
      { type: 'text', text: 'It is {"latitude":52.5}.', state: 'done' },
    ]);
    expect(chat.messages).toHaveLength(2);
    const { body } = await client.api.get(`/sessions/${session}/turns`);
    expect(body.data).toHaveLength(1);
  });

  it('runs tools of several steps of one turn, beside tools that the service runs', async () => {
    const session = await client.begin([LOCATE, SUM, { text: 'On.' }, LOCATE, END], { tools: [TOOL] });
    const called: unknown[] = [];
    const chat = locatingChat(session, called, 'here');
    await chat.sendMessage({ text: 'where am I?' });
    await ends(session, chat);
    expect(chat.error).toBeUndefined();
    expect(called.filter((one) => (one as unknown[])[0] === 'get_location')).toHaveLength(2);
    expect(parts(chat).at(-1)).toMatchObject({ type: 'text', text: 'It is here.' });
  });

  it('submits file parts of AI SDK in an output as images and files', async () => {
    const session = await client.begin([LOCATE, END], { tools: [TOOL] });
    const map = { type: 'file', mediaType: 'image/png', filename: 'map.png' };
    const output = [
      { type: 'text', text: 'The map:' },
      { ...map, url: `data:image/png;base64,${PNG}` },
    ];
    const chat = locatingChat(session, [], output);
    await chat.sendMessage({ text: 'where am I?' });
    await ends(session, chat);
    expect(chat.error).toBeUndefined();
    expect(parts(chat).at(-1)).toMatchObject({
      type: 'text',
      text: expect.stringContaining('[image image/png'),
    });
  });

  it.each([true, false])(
    'shows an image in an output to a page that reloads, given in a list: %s',
    async (isList) => {
      const session = await client.begin([LOCATE, LOCATE, END], { tools: [TOOL] });
      const file = { type: 'file', mediaType: 'image/png', filename: 'map.png' };
      const given = { ...file, url: `data:image/png;base64,${PNG}` };
      const chat = client.chatOf(session);
      await chat.sendMessage({ text: 'where am I?' });
      const tool = 'get_location';
      await chat.addToolOutput({ tool, toolCallId: 'call_1_1', output: isList ? [given] : given } as never);
      const { body } = await client.api.get(`/sessions/${session}/ai-messages`);
      const open = body.data as UIMessage[];
      expect(open[1]?.parts).toMatchObject([
        { type: 'step-start' },
        { toolCallId: 'call_1_1' },
        { toolCallId: 'call_1_2' },
      ]);
      await client.post(session, JSON.stringify({ messages: chat.messages })).then((answer) => answer.text());
      const reloaded = (await client.api.get(`/sessions/${session}/ai-messages`)).body.data as UIMessage[];
      const sha256 = createHash('sha256').update(Buffer.from(PNG, 'base64')).digest('hex');
      const url = `/api/v1/sessions/${session}/parts/${sha256}`;
      expect(reloaded[1]?.parts[1]).toMatchObject({ state: 'output-available', output: [{ ...file, url }] });
      const image = await fetch(system.url + url);
      expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe(PNG);
      const chunks = await chunksFrom(client.urlOf(session));
      expect(chunks).toContainEqual(
        expect.objectContaining({ type: 'tool-output-available', output: [{ ...file, url }] }),
      );

      // The page answers the other call. The first output is sent again with the URL of the service.
      const page = client.chatOf(session, { messages: reloaded });
      const other = [{ ...file, url: system.url + url }];
      await page.addToolOutput({ tool, toolCallId: 'call_1_2', output: other } as never);
      await page.sendMessage();
      await ends(session, page);
      expect(page.error).toBeUndefined();
      expect(parts(page).at(-1)).toMatchObject({ text: expect.stringContaining('[image image/png') });
      const foreign = `/api/v1/sessions/ses_${'0'.repeat(26)}/parts/${sha256}`;
      for (const [part, status, code] of [
        [{ ...file, url }, 200, undefined],
        [{ ...file, url: foreign }, 400, 'INVALID_REQUEST'],
        [{ ...file, url: url.replace(sha256, 'a'.repeat(64)) }, 404, 'PART_NOT_FOUND'],
      ] as const) {
        const message = { id: '1', role: 'user', parts: [{ type: 'text', text: 'Again' }, part] };
        const sent = await client.post(session, JSON.stringify({ messages: [message] }));
        expect(sent.status, part.url).toBe(status);
        const text = await sent.text();
        if (code) expect(JSON.parse(text)).toMatchObject({ code });
      }
    },
  );

  it('submits an error of the page', async () => {
    const session = await client.begin([LOCATE, END], { tools: [TOOL] });
    const chat = client.chatOf(session, { sendAutomaticallyWhen });
    await chat.sendMessage({ text: 'where am I?' });
    expect(chat.status).toBe('ready');
    await chat.addToolOutput({
      state: 'output-error',
      tool: 'get_location',
      toolCallId: 'call_1_1',
      errorText: 'no signal',
    } as never);
    await ends(session, chat);
    expect(parts(chat)).toMatchObject([
      { type: 'step-start' },
      { type: 'tool-get_location', state: 'output-error', errorText: 'no signal' },
      { type: 'step-start' },
      { type: 'text', text: 'It is no signal.' },
    ]);
  });

  it('waits for the answers of all calls and approvals of a step', async () => {
    const session = await client.begin([SUM, LOCATE, ASK, END], { tools: [...ASKS, TOOL] });
    const chat = client.chatOf(session);
    await chat.sendMessage({ text: 'go' });
    const approval = parts(chat).find((part) => part.type === 'dynamic-tool');
    if (approval?.type !== 'dynamic-tool' || approval.state !== 'approval-requested')
      throw new Error('no approval was requested');
    await chat.addToolApprovalResponse({ id: approval.approval.id, approved: true });
    await chat.addToolOutput({ tool: 'get_location', toolCallId: 'call_1_2', output: 'here' } as never);
    await chat.sendMessage();
    expect(chat.error).toBeUndefined();
    expect(parts(chat).at(-1)).toMatchObject({ type: 'tool-ask_user', state: 'input-available' });
    await chat.addToolOutput({ tool: 'ask_user', toolCallId: 'call_1_3', output: { size: 'L' } } as never);
    await chat.sendMessage();
    await ends(session, chat);
    expect(parts(chat).at(-1)).toMatchObject({ type: 'text', text: 'It is {"size":"L"}.' });
    expect(chat.messages).toHaveLength(2);
  });

  it('shows the pending call to a page that resumes', async () => {
    const session = await client.begin([LOCATE, END], { tools: [TOOL] });
    await client.chatOf(session).sendMessage({ text: 'where am I?' });
    const chunks = await chunksFrom(client.urlOf(session));
    expect(chunks).toContainEqual({
      type: 'tool-input-available',
      toolCallId: 'call_1_1',
      toolName: 'get_location',
      input: { precise: true },
    });
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'tool-calls' });
  });

  it('refuses an answer that does not match the form with the pointer of its part, and keeps the question open', async () => {
    const session = await client.begin([ASK, END]);
    const chat = client.chatOf(session);
    await chat.sendMessage({ text: 'go' });
    const message = chat.lastMessage as UIMessage;
    const answered = (output: unknown) => ({
      messages: [
        {
          ...message,
          parts: message.parts.map((part) =>
            part.type === 'tool-ask_user' ? { ...part, state: 'output-available', output } : part,
          ),
        },
      ],
    });
    const refused = await client.post(session, JSON.stringify(answered({ size: 'M' })));
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { code: 'INVALID_REQUEST', error: { details: [{ pointer: '/messages/0/parts/1/output/size' }] } },
    ]);
    const accepted = await client.post(session, JSON.stringify(answered({ size: 'S' })));
    expect([accepted.status, await accepted.text()]).toEqual([200, expect.stringContaining('[DONE]')]);
    const other = await client.post(session, JSON.stringify(answered({ size: 'L' })));
    expect([other.status, await other.json()]).toMatchObject([409, { code: 'TOOL_RESULT_CONFLICT' }]);
  });

  it('skips the error of a call with an invalid input beside the output of another call', async () => {
    const wrong = { tool: 'get_location', input: { precise: 'yes' } };
    const session = await client.begin([wrong, LOCATE, END], { tools: [TOOL] });
    const called: unknown[] = [];
    const chat = client.chatOf(session, { sendAutomaticallyWhen });
    await chat.sendMessage({ text: 'go' });
    await chat.addToolOutput({ tool: 'get_location', toolCallId: 'call_1_2', output: 'here' } as never);
    await ends(session, chat);
    expect([chat.error, called]).toEqual([undefined, []]);
    expect(parts(chat).at(-1)).toMatchObject({ type: 'text', text: 'It is here.' });
  });
});
