import type { UIMessage, UIMessageChunk } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStream } from '../../support/stream.ts';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/wait.ts';
import { expectHeaders } from '../envelope.ts';
import { joined, read } from './reading.ts';
import {
  ASKS,
  chunkOf,
  chunksFrom,
  createTalk,
  framesOf,
  lastOf,
  SLOW,
  STORY,
  SUM,
  type Talk,
} from './talk.ts';

describe('joining the ai-stream of a turn', () => {
  let system: System;
  let talk: Talk;
  beforeAll(async () => {
    system = await startSystem();
    talk = createTalk(system);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('a second client sees what is asked, and a decision through the API', async () => {
    const session = await talk.begin([SUM, { text: 'Well.' }], { tools: ASKS });
    await talk.chatOf(session).sendMessage({ text: 'six times seven?' });
    const other = talk.chatOf(session);
    await other.resumeStream();
    expect(lastOf(other)).toMatchObject([{ type: 'step-start' }, { state: 'approval-requested' }]);
    const { body } = await talk.api.get(`/sessions/${session}/approvals?status=pending`);
    const [asked] = body.data as { approval_id: string }[];
    const edited_input = { expression: '2 + 3' };
    await talk.api.post(`/sessions/${session}/approvals/${asked?.approval_id}`, {
      decision: 'allow',
      edited_input,
    });
    await talk.ended(session);
    const turn = await talk.turnOf(session);
    const chunks = await chunksFrom(`${talk.urlOf(session)}?after_seq=${turn?.queued_seq}`);
    const { message } = await read(chunks);
    expect(joined(message)).toMatchObject([
      { type: 'step-start' },
      { type: 'dynamic-tool', state: 'output-available', input: edited_input },
      { type: 'step-start' },
      { type: 'text', text: 'Well.' },
    ]);
    expect(JSON.stringify(joined(message))).toContain('5');
  });

  it('joins a turn in the middle of a message, as the client does by itself', async () => {
    const session = await talk.begin(SLOW);
    const first = talk.chatOf(session);
    const sending = first.sendMessage({ text: 'tell' });
    await until('something is told', () => lastOf(first).length > 1);
    const head = await fetch(talk.urlOf(session), { method: 'HEAD' });
    expect([head.status, head.headers.get('x-vercel-ai-ui-message-stream')]).toEqual([200, 'v1']);
    const second = talk.chatOf(session);
    await Promise.all([sending, second.resumeStream()]);
    expect(lastOf(second)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: STORY, state: 'done' },
    ]);
    expect(second.lastMessage?.id).toBe(first.lastMessage?.id);
    const third = talk.chatOf(session);
    await third.resumeStream();
    expect([third.status, third.messages]).toEqual(['ready', []]);
  });

  it('comes back with Last-Event-ID in the middle of a text, to what is new alone', async () => {
    const session = await talk.begin(SLOW);
    const response = await talk.post(session, '{"content":"tell"}');
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expectHeaders({ status: 200, headers: response.headers, text: '' });
    const heard = await framesOf(response, (frames) => frames.filter(({ id }) => id).length === 4);
    const last = String(heard.findLast(({ id }) => id)?.id);
    const rest = await chunksFrom(talk.urlOf(session), { 'Last-Event-ID': last });
    const told = (chunks: UIMessageChunk[]) =>
      chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
    expect(rest.slice(0, 2).map(({ type }) => type)).toEqual(['start', 'text-start']);
    expect(told(heard.flatMap(({ data }) => chunkOf(data))) + told(rest)).toBe(STORY);
    const before = await read(heard.flatMap(({ data }) => chunkOf(data)));
    const { message } = await read(rest, before.message);
    expect(joined(message)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: STORY, state: 'done' },
    ]);
  });

  it('has told the same message to whoever leaves again and again', async () => {
    const half = { text: 'half a story '.repeat(6), chunk_chars: 4, delay_ms: 15 };
    const steps = [half, SUM, { thinking: 'Hm.' }, half, { error: { kind: 'cut_stream' }, times: 1 }, half];
    const session = await talk.begin(steps);
    const { body } = await talk.api.post(`/sessions/${session}/messages`, { content: 'tell' });
    const hear = async (place: string, frames: number) => {
      const headers = { 'Last-Event-ID': place };
      const heard = await readStream(talk.urlOf(session), (seen) => seen.length === frames, headers);
      return heard.filter(({ data }) => data !== undefined);
    };
    const start = String(body.data.seq);
    let place = start;
    let message: UIMessage | undefined;
    let joins = 0;
    for (let done = false; !done; joins++) {
      const heard = await hear(place, 6 + (joins % 5));
      // Whatever came after the last id comes again; after the end nothing does.
      const known = heard.findLastIndex(({ id }) => id !== undefined);
      const kept = heard.slice(0, known + 1).flatMap(({ data }) => chunkOf(data));
      done = kept.at(-1)?.type === 'finish';
      place = heard[known]?.id ?? place;
      ({ message } = await read(kept, message));
    }
    expect(await (await fetch(talk.urlOf(session), { headers: { 'Last-Event-ID': place } })).text()).toBe('');
    expect(joins).toBeGreaterThan(3);
    const whole = await read(await chunksFrom(`${talk.urlOf(session)}?after_seq=${start}`));
    expect(joined(message)).toEqual(joined(whole.message));
    expect(joined(message)).toHaveLength(6);
  });
});
