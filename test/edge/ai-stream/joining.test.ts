import type { UIMessage, UIMessageChunk } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStream } from '../../support/stream.ts';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import { expectHeaders } from '../envelope.ts';
import {
  ASKS,
  type ChatClient,
  chunkOf,
  chunksFrom,
  createChatClient,
  framesOf,
  lastOf,
  SLOW,
  STORY,
  SUM,
} from './chat-client.ts';
import { joined, read } from './read-stream.ts';

describe('GET /sessions/{session_id}/ai-stream', () => {
  let system: System;
  let client: ChatClient;
  beforeAll(async () => {
    system = await startSystem();
    client = createChatClient(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('shows a second client the approval request and a decision that was made over the API', async () => {
    const session = await client.begin([SUM, { text: 'Well.' }], { tools: ASKS });
    await client.chatOf(session).sendMessage({ text: 'six times seven?' });
    const other = client.chatOf(session);
    await other.resumeStream();
    expect(lastOf(other)).toMatchObject([{ type: 'step-start' }, { state: 'approval-requested' }]);
    const { body } = await client.api.get(`/sessions/${session}/approvals?status=pending`);
    const [approval] = body.data as { approval_id: string }[];
    const edited_input = { expression: '2 + 3' };
    await client.api.post(`/sessions/${session}/approvals/${approval?.approval_id}`, {
      decision: 'allow',
      edited_input,
    });
    await client.ended(session);
    const turn = await client.turnOf(session);
    const chunks = await chunksFrom(`${client.urlOf(session)}?after_seq=${turn?.queued_seq}`);
    const { message } = await read(chunks);
    expect(joined(message)).toMatchObject([
      { type: 'step-start' },
      { type: 'dynamic-tool', state: 'output-available', input: edited_input },
      { type: 'step-start' },
      { type: 'text', text: 'Well.' },
    ]);
    expect(JSON.stringify(joined(message))).toContain('5');
  });

  it('resumes a turn in the middle of a message with the default reconnect of AI SDK', async () => {
    // The answer takes minutes, so that it cannot end before the second client has joined.
    const story = STORY.repeat(100);
    const session = await client.begin([{ ...SLOW[0], text: story }]);
    const first = client.chatOf(session);
    const sending = first.sendMessage({ text: 'tell' });
    await until('the first part is received', () => lastOf(first).length > 1);
    const head = await fetch(client.urlOf(session), { method: 'HEAD' });
    expect([head.status, head.headers.get('x-vercel-ai-ui-message-stream')]).toEqual([200, 'v1']);
    const second = client.chatOf(session);
    const resuming = second.resumeStream();
    await until('the second client receives the message', () => lastOf(second).length > 1);
    await client.api.post(`/sessions/${session}/interrupt`);
    await Promise.all([sending, resuming]);
    expect([first.error, second.error]).toEqual([undefined, undefined]);
    const parts = lastOf(second);
    expect(parts).toMatchObject([{ type: 'step-start' }, { type: 'text', state: 'done' }]);
    expect(story.startsWith((parts[1] as { text: string }).text)).toBe(true);
    expect(parts).toEqual(lastOf(first));
    expect(second.lastMessage?.id).toBe(first.lastMessage?.id);
    const third = client.chatOf(session);
    await third.resumeStream();
    expect([third.status, third.messages]).toEqual(['ready', []]);
  });

  it('streams only new text after Last-Event-ID', async () => {
    const session = await client.begin(SLOW);
    const response = await client.post(session, '{"content":"tell"}');
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expectHeaders({ status: 200, headers: response.headers, text: '' });
    const replayed = await framesOf(response, (frames) =>
      frames.some(({ id, data }) => id !== undefined && data.includes('"type":"text-delta"')),
    );
    const last = String(replayed.findLast(({ id }) => id)?.id);
    const rest = await chunksFrom(client.urlOf(session), { 'Last-Event-ID': last });
    const textOf = (chunks: UIMessageChunk[]) =>
      chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
    expect(rest.slice(0, 2).map(({ type }) => type)).toEqual(['start', 'text-start']);
    expect(textOf(replayed.flatMap(({ data }) => chunkOf(data))) + textOf(rest)).toBe(STORY);
    const before = await read(replayed.flatMap(({ data }) => chunkOf(data)));
    const { message } = await read(rest, before.message);
    expect(joined(message)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: STORY, state: 'done' },
    ]);
  });

  it('produces the same message for a client that reconnects repeatedly', async () => {
    const half = { text: 'half a story '.repeat(6), chunk_chars: 4, delay_ms: 15 };
    const steps = [half, SUM, { thinking: 'Hm.' }, half, { error: { kind: 'cut_stream' }, times: 1 }, half];
    const session = await client.begin(steps);
    const { body } = await client.api.post(`/sessions/${session}/messages`, { content: 'tell' });
    const hear = async (place: string, frames: number) => {
      const headers = { 'Last-Event-ID': place };
      const replayed = await readStream(
        client.urlOf(session),
        (received) => received.length === frames,
        headers,
      );
      return replayed.filter(({ data }) => data !== undefined);
    };
    const start = String(body.data.seq);
    let place = start;
    let message: UIMessage | undefined;
    let joins = 0;
    for (let done = false; !done; joins++) {
      const replayed = await hear(place, 6 + (joins % 5));
      // Frames after the last received id are repeated; after the end there are none.
      const known = replayed.findLastIndex(({ id }) => id !== undefined);
      const received = replayed.slice(0, known + 1).flatMap(({ data }) => chunkOf(data));
      done = received.at(-1)?.type === 'finish';
      place = replayed[known]?.id ?? place;
      ({ message } = await read(received, message));
    }
    expect(await (await fetch(client.urlOf(session), { headers: { 'Last-Event-ID': place } })).text()).toBe(
      '',
    );
    expect(joins).toBeGreaterThan(3);
    const replay = await read(await chunksFrom(`${client.urlOf(session)}?after_seq=${start}`));
    expect(joined(message)).toEqual(joined(replay.message));
    expect(joined(message)).toHaveLength(6);
  });
});
