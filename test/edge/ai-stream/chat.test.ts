import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import { ASKS, type ChatClient, createChatClient, lastOf, SLOW, STORY, SUM } from './chat-client.ts';
import { MemoryChat } from './memory-chat.ts';
import { joined, read } from './read-stream.ts';

describe('POST /sessions/{session_id}/ai-stream with the AI SDK client', () => {
  let system: System;
  let client: ChatClient;
  beforeAll(async () => {
    system = await startSystem();
    client = createChatClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('streams text and reasoning in a message with the id of the turn', async () => {
    const session = await client.begin([{ thinking: 'Hm.' }, { text: 'You said {{input}}.' }]);
    const finished: unknown[] = [];
    const chat = client.chatOf(session, { onFinish: ({ finishReason }) => finished.push(finishReason) });
    await chat.sendMessage({ text: 'hello' });
    expect(chat.error).toBeUndefined();
    expect(lastOf(chat)).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hm.', state: 'done' },
      { type: 'text', text: 'You said hello.', state: 'done' },
    ]);
    expect(finished).toEqual(['stop']);
    expect(chat.lastMessage?.id).toBe((await client.turnOf(session))?.turn_id);
  });

  it('is parsed correctly with a heartbeat after every frame', async () => {
    const session = await client.begin([{ thinking: 'Hm.' }, SUM, { text: 'Well.' }]);
    const transport = new DefaultChatTransport<UIMessage>({
      api: client.urlOf(session),
      fetch: fetchWithHeartbeats,
    });
    const chat = new MemoryChat({ transport });
    await chat.sendMessage({ text: 'six times seven?' });
    expect(chat.error).toBeUndefined();
    expect(lastOf(chat).at(-1)).toMatchObject({ type: 'text', text: 'Well.', state: 'done' });
  });

  it('streams tool calls and their results, step by step', async () => {
    const session = await client.begin([
      { text: 'I calculate.' },
      SUM,
      { text: 'It is {{last_tool_output}}.' },
    ]);
    const chat = client.chatOf(session);
    await chat.sendMessage({ text: 'six times seven?' });
    expect(lastOf(chat)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'I calculate.' },
      { type: 'dynamic-tool', toolName: 'calculator', state: 'output-available', input: SUM.input },
      { type: 'step-start' },
      { type: 'text', state: 'done' },
    ]);
    expect(JSON.stringify(lastOf(chat))).toContain('42');
  });

  it.each([
    [true, 'output-available'],
    [false, 'output-denied'],
  ])('continues the turn in the same message after an approval response with %s', async (approved, state) => {
    const session = await client.begin([SUM, { text: 'Well.' }], { tools: ASKS });
    const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
    const chat = client.chatOf(session, { sendAutomaticallyWhen });
    await chat.sendMessage({ text: 'six times seven?' });
    const part = chat.lastMessage?.parts.at(-1);
    if (part?.type !== 'dynamic-tool' || part.state !== 'approval-requested')
      throw new Error('no approval was requested');
    await chat.addToolApprovalResponse({ id: part.approval.id, approved, reason: 'because' });
    await until('the turn has continued', () => chat.status === 'ready' && lastOf(chat).length > 2);
    expect(chat.error).toBeUndefined();
    expect(chat.messages).toHaveLength(2);
    expect(lastOf(chat)).toMatchObject([
      { type: 'step-start' },
      { type: 'dynamic-tool', state, approval: { approved, reason: 'because' } },
      { type: 'step-start' },
      { type: 'text', text: 'Well.', state: 'done' },
    ]);
    const { body } = await client.api.get(`/sessions/${session}/approvals`);
    expect(body.data).toMatchObject([{ decision: approved ? 'allow' : 'deny', reason: 'because' }]);
  });

  it('streams the error of a failed turn', async () => {
    const session = await client.begin([{ text: 'Hel' }, { error: { kind: 'bad_request' } }]);
    const chat = client.chatOf(session);
    await chat.sendMessage({ text: 'hello' });
    expect(chat.status).toBe('error');
    expect(chat.error?.message).toBe((await client.turnOf(session))?.error?.message);
  });

  it('removes a discarded attempt, sends a retry notice and streams the next attempt', async () => {
    const steps = [
      { text: 'half a story '.repeat(4), chunk_chars: 4, delay_ms: 20 },
      { error: { kind: 'cut_stream' }, times: 1 },
      { text: 'The end.' },
    ];
    const session = await client.begin(steps);
    const notices: string[] = [];
    const chat = client.chatOf(session, { onData: ({ type }) => notices.push(type) });
    await chat.sendMessage({ text: 'tell' });
    expect(notices).toEqual(['data-retry']);
    const text = lastOf(chat).flatMap((part) => (part as { text?: string }).text ?? []);
    expect(text.join('')).toBe(`${'half a story '.repeat(4)}The end.`);
  });

  it('aborts when the turn is interrupted, and the next message starts a new turn', async () => {
    // The answer takes minutes, so that it cannot end before the interrupt.
    const story = STORY.repeat(100);
    const session = await client.begin([{ ...SLOW[0], text: '{{input}}' }]);
    const transport = client.transportOf(session);
    const messages: UIMessage[] = [{ id: '1', role: 'user', parts: [{ type: 'text', text: story }] }];
    const request = { chatId: session, trigger: 'submit-message' as const, messageId: undefined };
    const stream = await transport.sendMessages({ ...request, messages, abortSignal: undefined });
    const chunks: UIMessageChunk[] = [];
    for await (const chunk of stream) {
      chunks.push(chunk);
      if (chunk.type !== 'text-delta' || chunks.length > 4) continue;
      const { body } = await client.api.post(`/sessions/${session}/interrupt`);
      expect(body.data.status).toBe('idle');
    }
    expect(chunks.at(-1)).toEqual({ type: 'abort', reason: 'interrupted' });
    const { message } = await read(chunks);
    const lastText = joined(message).at(-1) as { text: string; state: string };
    expect(story.startsWith(lastText.text)).toBe(true);
    expect(lastText).toMatchObject({ state: 'done' });
    const chat = client.chatOf(session);
    await chat.sendMessage({ text: 'again' });
    expect(lastOf(chat)).toMatchObject([{ type: 'step-start' }, { type: 'text', text: 'again' }]);
  });
});

const fetchWithHeartbeats: typeof fetch = async (...request) => {
  const { body, headers } = await fetch(...request);
  const beating = new TransformStream<string, string>({
    transform(text, controller) {
      controller.enqueue(text.replaceAll('\n\n', '\n\n: still here\n\n'));
    },
  });
  const frames = body?.pipeThrough(new TextDecoderStream()).pipeThrough(beating);
  return new Response(frames?.pipeThrough(new TextEncoderStream()), { headers });
};
