import {
  type ChatInit,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../support/api.ts';
import { readStream } from '../../support/stream.ts';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import { expectHeaders, expectRefusal, see } from '../envelope.ts';
import { MemoryChat } from './chat.ts';
import { joined } from './reading.ts';

const STORY = 'a long story '.repeat(20);
const SLOW = [{ text: STORY, chunk_chars: 4, delay_ms: 15 }];
const SUM = { tool: 'calculator', input: { expression: '6 * 7' } };
const ASKS = [{ name: 'calculator', permission: 'ask' }];

describe('the ai-stream of a session, with the client of AI SDK', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  async function begin(steps: object[], members: object = {}): Promise<string> {
    const agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps }, ...members });
    return String((await api.post(`/agents/${agent}/conversations`)).body.data.session_id);
  }
  const urlOf = (session: string) => `${system.url}/api/v1/sessions/${session}/ai-stream`;
  const transportOf = (session: string) => new DefaultChatTransport<UIMessage>({ api: urlOf(session) });
  const chatOf = (session: string, init: Partial<ChatInit<UIMessage>> = {}) =>
    new MemoryChat({ id: session, transport: transportOf(session), ...init });
  const partsOf = (message: UIMessage | undefined) => joined(message);
  const lastOf = (chat: MemoryChat) => partsOf(chat.lastMessage);
  const turnOf = async (session: string) => {
    const { body } = await api.get(`/sessions/${session}/turns`);
    return (body.data as unknown as { turn_id: string; status: string; queued_seq: number }[]).at(-1);
  };
  const ended = (session: string) =>
    until('the turn has ended', async () => {
      const { body } = await api.get(`/sessions/${session}`);
      return body.data.status === 'idle' && body.data.current_turn_id === null;
    });

  it('streams text and reasoning, and the message is named by its turn', async () => {
    const session = await begin([{ thinking: 'Hm.' }, { text: 'You said {{input}}.' }]);
    const finished: unknown[] = [];
    const chat = chatOf(session, { onFinish: ({ finishReason }) => finished.push(finishReason) });
    await chat.sendMessage({ text: 'hello' });
    expect(chat.error).toBeUndefined();
    expect(lastOf(chat)).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hm.', state: 'done' },
      { type: 'text', text: 'You said hello.', state: 'done' },
    ]);
    expect(finished).toEqual(['stop']);
    expect(chat.lastMessage?.id).toBe((await turnOf(session))?.turn_id);
  });

  it('is understood with a heartbeat behind every frame', async () => {
    const session = await begin([{ thinking: 'Hm.' }, SUM, { text: 'Well.' }]);
    const transport = new DefaultChatTransport<UIMessage>({
      api: urlOf(session),
      fetch: fetchWithHeartbeats,
    });
    const chat = new MemoryChat({ transport });
    await chat.sendMessage({ text: 'six times seven?' });
    expect(chat.error).toBeUndefined();
    expect(lastOf(chat).at(-1)).toMatchObject({ type: 'text', text: 'Well.', state: 'done' });
  });

  it('streams tools and their results, step by step', async () => {
    const session = await begin([{ text: 'I calculate.' }, SUM, { text: 'It is {{last_tool_output}}.' }]);
    const chat = chatOf(session);
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
  ])('an approval answered with %s makes the turn go on in the same message', async (approved, state) => {
    const session = await begin([SUM, { text: 'Well.' }], { tools: ASKS });
    const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithApprovalResponses;
    const chat = chatOf(session, { sendAutomaticallyWhen });
    await chat.sendMessage({ text: 'six times seven?' });
    const part = chat.lastMessage?.parts.at(-1);
    if (part?.type !== 'dynamic-tool' || part.state !== 'approval-requested')
      throw new Error('nobody was asked');
    await chat.addToolApprovalResponse({ id: part.approval.id, approved, reason: 'because' });
    await until('the turn has gone on', () => chat.status === 'ready' && lastOf(chat).length > 2);
    expect(chat.error).toBeUndefined();
    expect(chat.messages).toHaveLength(2);
    expect(lastOf(chat)).toMatchObject([
      { type: 'step-start' },
      { type: 'dynamic-tool', state, approval: { approved, reason: 'because' } },
      { type: 'step-start' },
      { type: 'text', text: 'Well.', state: 'done' },
    ]);
    const { body } = await api.get(`/sessions/${session}/approvals`);
    expect(body.data).toMatchObject([{ decision: approved ? 'allow' : 'deny', reason: 'because' }]);
  });

  it('a second client sees what is asked, and a decision through the API', async () => {
    const session = await begin([SUM, { text: 'Well.' }], { tools: ASKS });
    await chatOf(session).sendMessage({ text: 'six times seven?' });
    const other = chatOf(session);
    await other.resumeStream();
    expect(lastOf(other)).toMatchObject([{ type: 'step-start' }, { state: 'approval-requested' }]);
    const { body } = await api.get(`/sessions/${session}/approvals?status=pending`);
    const [{ approval_id: id }] = body.data as unknown as [{ approval_id: string }];
    const edited_input = { expression: '2 + 3' };
    await api.post(`/sessions/${session}/approvals/${id}`, { decision: 'allow', edited_input });
    await ended(session);
    const turn = await turnOf(session);
    const chunks = await chunksFrom(`${urlOf(session)}?after_seq=${turn?.queued_seq}`);
    const { message } = await readAll(chunks);
    expect(partsOf(message)).toMatchObject([
      { type: 'step-start' },
      { type: 'dynamic-tool', state: 'output-available', input: edited_input },
      { type: 'step-start' },
      { type: 'text', text: 'Well.' },
    ]);
    expect(JSON.stringify(partsOf(message))).toContain('5');
  });

  it('says why a turn has failed', async () => {
    const session = await begin([{ text: 'Hel' }, { error: { kind: 'bad_request' } }]);
    const chat = chatOf(session);
    await chat.sendMessage({ text: 'hello' });
    expect(chat.status).toBe('error');
    expect(chat.error?.message).toBe((await failureOf(session)).message);
  });

  it('drops the attempt that broke off, tells of the retry, and shows the one that did not', async () => {
    const steps = [
      { text: 'half a story '.repeat(4), chunk_chars: 4, delay_ms: 20 },
      { error: { kind: 'cut_stream' }, times: 1 },
      { text: 'The end.' },
    ];
    const session = await begin(steps);
    const notices: string[] = [];
    const chat = chatOf(session, { onData: ({ type }) => notices.push(type) });
    await chat.sendMessage({ text: 'tell' });
    expect(notices).toEqual(['data-retry']);
    const text = lastOf(chat).flatMap((part) => (part as { text?: string }).text ?? []);
    expect(text.join('')).toBe(`${'half a story '.repeat(4)}The end.`);
  });

  it('joins a turn in the middle of a message, as the client does by itself', async () => {
    const session = await begin(SLOW);
    const first = chatOf(session);
    const sending = first.sendMessage({ text: 'tell' });
    await until('something is told', () => lastOf(first).length > 1);
    const head = await fetch(urlOf(session), { method: 'HEAD' });
    expect([head.status, head.headers.get('x-vercel-ai-ui-message-stream')]).toEqual([200, 'v1']);
    const second = chatOf(session);
    await Promise.all([sending, second.resumeStream()]);
    expect(lastOf(second)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: STORY, state: 'done' },
    ]);
    expect(second.lastMessage?.id).toBe(first.lastMessage?.id);
    const third = chatOf(session);
    await third.resumeStream();
    expect([third.status, third.messages]).toEqual(['ready', []]);
  });

  it('comes back with Last-Event-ID in the middle of a text, to what is new alone', async () => {
    const session = await begin(SLOW);
    const response = await fetch(urlOf(session), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"content":"tell"}',
    });
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expectHeaders({ status: 200, headers: response.headers, text: '' });
    const heard = await framesOf(response, (frames) => frames.filter(({ id }) => id).length === 4);
    const last = String(heard.findLast(({ id }) => id)?.id);
    const rest = await chunksFrom(urlOf(session), { 'Last-Event-ID': last });
    const told = (chunks: UIMessageChunk[]) =>
      chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
    expect(rest.slice(0, 2).map(({ type }) => type)).toEqual(['start', 'text-start']);
    expect(told(heard.flatMap(({ data }) => chunkOf(data))) + told(rest)).toBe(STORY);
    const before = await readAll(heard.flatMap(({ data }) => chunkOf(data)));
    const { message } = await readAll(rest, before.message);
    expect(partsOf(message)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: STORY, state: 'done' },
    ]);
  });

  it('has told the same message to whoever leaves again and again', async () => {
    const half = { text: 'half a story '.repeat(6), chunk_chars: 4, delay_ms: 15 };
    const steps = [half, SUM, { thinking: 'Hm.' }, half, { error: { kind: 'cut_stream' }, times: 1 }, half];
    const session = await begin(steps);
    const { body } = await api.post(`/sessions/${session}/messages`, { content: 'tell' });
    const read = async (place: string, frames: number) => {
      const headers = { 'Last-Event-ID': place };
      const heard = await readStream(urlOf(session), (seen) => seen.length === frames, headers);
      return heard.filter(({ data }) => data !== undefined);
    };
    const start = String(body.data.seq);
    let place = start;
    let message: UIMessage | undefined;
    let joins = 0;
    for (let done = false; !done; joins++) {
      const heard = await read(place, 6 + (joins % 5));
      done = heard.at(-1)?.data === '[DONE]';
      // Whatever came after the last id comes again.
      const known = heard.findLastIndex(({ id }) => id !== undefined);
      const kept = done ? heard : heard.slice(0, known + 1);
      place = heard[known]?.id ?? place;
      message = (
        await readAll(
          kept.flatMap(({ data }) => chunkOf(data)),
          message,
        )
      ).message;
    }
    expect(joins).toBeGreaterThan(3);
    const whole = await readAll(await chunksFrom(`${urlOf(session)}?after_seq=${start}`));
    expect(partsOf(message)).toEqual(partsOf(whole.message));
    expect(partsOf(message)).toHaveLength(6);
  });

  it('aborts when the turn is interrupted, and the next message is answered', async () => {
    const session = await begin(SLOW);
    const transport = transportOf(session);
    const messages: UIMessage[] = [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'tell' }] }];
    const asked = { chatId: session, trigger: 'submit-message' as const, messageId: undefined };
    const stream = await transport.sendMessages({ ...asked, messages, abortSignal: undefined });
    const chunks: UIMessageChunk[] = [];
    for await (const chunk of stream) {
      chunks.push(chunk);
      if (chunk.type !== 'text-delta' || chunks.length > 4) continue;
      const { body } = await api.post(`/sessions/${session}/interrupt`);
      expect(body.data.status).toBe('idle');
    }
    expect(chunks.at(-1)).toEqual({ type: 'abort', reason: 'interrupted' });
    const { message } = await readAll(chunks);
    const kept = partsOf(message).at(-1) as { text: string; state: string };
    expect(STORY.startsWith(kept.text)).toBe(true);
    expect(kept).toMatchObject({ state: 'done' });
    const chat = chatOf(session);
    await chat.sendMessage({ text: 'again' });
    expect(lastOf(chat)).toMatchObject([{ type: 'step-start' }, { type: 'text', text: STORY }]);
  });

  it('sends the last message once more to regenerate, and once for one key', async () => {
    const session = await begin([{ text: 'You said {{input}}.' }]);
    const chat = chatOf(session);
    await chat.sendMessage({ text: 'one' });
    await chat.regenerate();
    expect(chat.messages).toHaveLength(2);
    expect((await api.get(`/sessions/${session}/turns`)).body.data).toHaveLength(2);
    const send = () =>
      fetch(urlOf(session), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' },
        body: '{"content":"two"}',
      });
    const first = await send();
    const second = await send();
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(await second.text()).toBe(await first.text());
    expect((await api.get(`/sessions/${session}/turns`)).body.data).toHaveLength(3);
  });

  it('refuses what it cannot send, with the place, and keeps to what is asked with', async () => {
    const session = await begin([{ text: 'Well.' }]);
    const post = async (body: unknown) =>
      see(
        await fetch(urlOf(session), {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      );
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
    expectRefusal(await see(await fetch(`${urlOf(session)}?after_seq=99999`)), 'INVALID_CURSOR');
    expect((await fetch(urlOf(session), { method: 'HEAD' })).status).toBe(204);
  });

  async function failureOf(session: string): Promise<{ message: string }> {
    const { body } = await api.get(`/sessions/${session}/turns`);
    return (body.data as unknown as { error: { message: string } }[])[0]?.error ?? { message: '' };
  }
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

const answer = (id: string) => ({
  type: 'dynamic-tool',
  state: 'approval-responded',
  approval: { id, approved: true },
});

const chunkOf = (data: string | undefined): UIMessageChunk[] =>
  data === undefined || data === '[DONE]' ? [] : [JSON.parse(data)];

async function chunksFrom(url: string, headers = {}): Promise<UIMessageChunk[]> {
  const frames = await readStream(url, () => false, headers);
  expect(frames.at(-1)?.data).toBe('[DONE]');
  return frames.flatMap(({ data }) => chunkOf(data));
}

/** The first frames of an answer, until there are enough. */
async function framesOf(
  response: Response,
  enough: (frames: { id: string | undefined; data: string }[]) => boolean,
): Promise<{ id: string | undefined; data: string }[]> {
  const frames: { id: string | undefined; data: string }[] = [];
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data === undefined) continue;
      frames.push({ id: /^id: (.*)$/m.exec(part)?.[1], data });
      if (enough(frames)) return frames;
    }
  }
  return frames;
}

async function readAll(chunks: UIMessageChunk[], message?: UIMessage) {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last = message;
  for await (const state of readUIMessageStream({
    stream,
    ...(message && { message: structuredClone(message) }),
  }))
    last = state;
  return { message: last };
}
