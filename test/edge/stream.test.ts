import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../lib/event-types.ts';
import { type Api, createApi } from '../support/api.ts';
import { openRaw, parseResponse } from '../support/raw-http.ts';
import { type Frame, readStream } from '../support/stream.ts';
import { type System, startSystem } from '../support/system.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/wait.ts';
import { expectHeaders, expectRefusal, readResponse } from './envelope.ts';

const caughtUpData = (seq: number) => `{"type":"stream.caught_up","seq":${seq}}`;
const caughtUp = (frames: Frame[]) => frames.at(-1)?.event === 'stream.caught_up';
const seqs = (frames: Frame[]) => frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** The number of ended Follow calls of a system. */
async function followsEnded({ url }: System): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const counts = metrics.matchAll(/ahs_rpc_duration_seconds_count\{[^}]*method="follow"[^}]*\} (\d+)/g);
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
}

describe('GET /sessions/{session_id}/events/stream', () => {
  let system: System;
  let api: Api;
  /** Creates a session with an ended turn. */
  let session: string;
  let last: number;
  beforeAll(async () => {
    system = await startSystem({ SERVICE_STREAM_STALL_SECONDS: '1' });
    api = createApi(system.url);
    session = await begin();
    last = await ended(session);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const streamOf = (id: string, query = '') => `${system.url}/api/v1/sessions/${id}/events/stream${query}`;
  const read = (query: string, enough: (frames: Frame[]) => boolean, headers = {}) =>
    readStream(streamOf(session, query), enough, headers);
  async function begin(): Promise<string> {
    const agent = await api.createAgent();
    const { body } = await api.post(`/agents/${agent}/conversations`, {
      message: 'one two three',
    });
    return String(body.data.session_id);
  }
  const ended = (id: string) =>
    until('the turn has ended', async () => {
      const { body } = await api.get(`/sessions/${id}`);
      return body.data.status === 'idle' ? Number(body.data.last_seq) : undefined;
    });

  it('begins with retry, has the common headers and is not cached', async () => {
    const connection = openRaw(system.url);
    connection.send(`GET ${new URL(streamOf(session)).pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    let text = '';
    connection.socket.on('data', (chunk) => {
      text += chunk;
    });
    await until('the first frame is there', () => text.includes('event: '));
    connection.socket.destroy();
    const answer = parseResponse(text);
    expectHeaders(answer);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-accel-buffering')).toBe('no');
    expect(answer.text).toMatch(/^[0-9a-f]+\r\nretry: 2000\n\n/);
  });

  it('sends every event once with seq, type and JSON; control frames have no id', async () => {
    const frames = await read('', caughtUp);
    const { body } = await api.get(`/sessions/${session}/events?limit=100`);
    const events = body.data as { seq: number; type: string }[];
    expect(frames.filter((frame) => frame.id !== undefined)).toEqual(
      events.map((event) => ({ id: String(event.seq), event: event.type, data: JSON.stringify(event) })),
    );
    expect(frames.filter((frame) => frame.id === undefined)).toEqual([
      { id: undefined, event: 'stream.caught_up', data: caughtUpData(last) },
    ]);
  });

  it('continues after Last-Event-ID, which overrides after_seq and from', async () => {
    expect(seqs(await read('?after_seq=2', caughtUp))).toEqual(upTo(last, 3));
    expect(seqs(await read('?after_seq=2', caughtUp, { 'Last-Event-ID': '4' }))).toEqual(upTo(last, 5));
    expect(seqs(await read('?after_seq=2', caughtUp, { 'Last-Event-ID': '0' }))).toEqual(upTo(last));
    expect(seqs(await read('?after_seq=2', caughtUp, { 'Last-Event-ID': '' }))).toEqual(upTo(last, 3));
    expect(seqs(await read(`?after_seq=${last}`, caughtUp))).toEqual([]);
    const resumed = await read('?from=now', caughtUp, { 'Last-Event-ID': '4' });
    expect(seqs(resumed.filter((frame) => frame.event !== undefined))).toEqual(upTo(last, 5));
  });

  it('begins with a position frame for from=now and sends only new events', async () => {
    const id = await begin();
    const before = await ended(id);
    let sent = false;
    const frames = await readStream(streamOf(id, '?from=now'), (frames) => {
      if (!sent && caughtUp(frames)) {
        sent = true;
        void api.post(`/sessions/${id}/messages`, { content: 'more' });
      }
      return frames.at(-1)?.event === 'session.status_idle';
    });
    expect(frames[0]).toEqual({ id: String(before), event: undefined, data: undefined });
    expect(frames[1]).toEqual({ id: undefined, event: 'stream.caught_up', data: caughtUpData(before) });
    const after = await ended(id);
    expect(seqs(frames.slice(1))).toEqual(upTo(after, before + 1));
    // A live reader is not behind, so no later chunk has the frame.
    expect(frames.filter((frame) => frame.event === 'stream.caught_up')).toHaveLength(1);
  });

  it('sends only the requested types and reports its position', async () => {
    const frames = await read('?types=user.message,agent.message', caughtUp);
    expect(frames.map((frame) => frame.event)).toEqual(['user.message', 'agent.message', 'stream.caught_up']);
    expect(frames.at(-1)?.data).toBe(caughtUpData(last));
  });

  it('returns an error status for invalid requests', async () => {
    const request = async (url: string, headers = {}) => readResponse(await fetch(url, { headers }));
    expectRefusal(await request(streamOf(session, `?after_seq=${last + 1}`)), 'INVALID_CURSOR');
    expectRefusal(await request(streamOf(session), { 'Last-Event-ID': String(last + 1) }), 'INVALID_CURSOR');
    for (const id of ['x', '-1', '1.5', '1e3', '9'.repeat(20)])
      expectRefusal(await request(streamOf(session), { 'Last-Event-ID': id }), 'INVALID_REQUEST');
    for (const query of [
      '?after_seq=-1',
      '?after_seq=x',
      '?from=then',
      '?types=',
      '?types=no.such',
      '?limit=1',
    ])
      expectRefusal(await request(streamOf(session, query)), 'INVALID_REQUEST');
    expectRefusal(await request(streamOf(`ses_${'7Z'.repeat(13)}`)), 'SESSION_NOT_FOUND');
    expectRefusal(await request(streamOf('ses_x')), 'SESSION_NOT_FOUND');
  });

  it('ends after session.deleted and then returns SESSION_NOT_FOUND', async () => {
    const id = await begin();
    const before = await ended(id);
    let deleted = false;
    const frames = await readStream(streamOf(id), (frames) => {
      if (!deleted && caughtUp(frames)) {
        deleted = true;
        void api.send('DELETE', `/sessions/${id}`);
      }
      return false;
    });
    expect(frames.at(-1)).toMatchObject({ id: String(before + 1), event: 'session.deleted' });
    expectRefusal(await readResponse(await fetch(streamOf(id))), 'SESSION_NOT_FOUND');
  });

  it('a standard EventSource reconnects without lost or repeated events', async () => {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'a long story '.repeat(30), chunk_chars: 4, delay_ms: 20 }] },
    });
    await using wire = await openTcpProxy(Number(new URL(system.url).port));
    const started = await api.post(`/agents/${agent}/conversations`, { message: 'tell' });
    const { pathname } = new URL(streamOf(String(started.body.data.session_id)));
    const source = new EventSource(`http://127.0.0.1:${wire.port}${pathname}`);
    const received: number[] = [];
    let opened = 0;
    let idle = false;
    source.addEventListener('open', () => opened++);
    for (const type of EVENT_TYPES) source.addEventListener(type, note);
    source.addEventListener('session.status_idle', () => {
      idle = true;
    });
    function note(event: MessageEvent): void {
      const seq = Number(event.lastEventId);
      received.push(seq);
    }
    await until('a part of the answer is received', () => received.length > 10);
    wire.cut();
    await until('the answer is complete', () => idle);
    source.close();
    expect(opened).toBe(2);
    expect(received).toEqual(upTo(received.length));
  });

  it('many open streams leave no listeners behind', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    for (let i = 0; i < 15; i++) await read('', caughtUp);
    await Promise.all(Array.from({ length: 30 }, () => read('', caughtUp)));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});

describe('a client that disconnects from an event stream', () => {
  it('ends the call to the sessions service', async () => {
    await using system = await startSystem();
    const api = createApi(system.url);
    const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
    const url = `${system.url}/api/v1/sessions/${body.data.session_id}/events/stream`;
    await Promise.all(Array.from({ length: 5 }, () => readStream(url, caughtUp)));
    await until('all Follow calls have ended', async () => (await followsEnded(system)) === 5);
  });
});

describe('a stopping service', () => {
  it('ends event streams with stream.draining and closes every connection', async () => {
    const system = await startSystem();
    const api = createApi(system.url);
    const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
    const url = `${system.url}/api/v1/sessions/${body.data.session_id}/events/stream`;
    let following = 0;
    const streams = Array.from({ length: 5 }, () =>
      readStream(url, (frames) => {
        if (caughtUp(frames)) following++;
        return false;
      }),
    );
    await until('all streams are open', () => following === 5);
    // Browsers open connections ahead of time; these must not delay the shutdown.
    const silent = openRaw(system.url);
    await until('the silent connection is open', () => silent.socket.readyState === 'open');
    await system[Symbol.asyncDispose]();
    expect(await silent.rest()).toBe('');
    for (const frames of await Promise.all(streams)) {
      expect(frames.at(-1)).toEqual({
        id: undefined,
        event: 'stream.draining',
        data: '{"type":"stream.draining","reconnect_after_ms":2000}',
      });
    }
  });
});

describe('a client that reads an event stream too slowly', () => {
  it('is disconnected, and receives the rest after it reconnects', async () => {
    await using system = await startSystem({ SERVICE_STREAM_STALL_SECONDS: '1' });
    const api = createApi(system.url);
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'Enough.' }] },
    });
    const { body: begun } = await api.post(`/agents/${agent}/conversations`);
    const id = String(begun.data.session_id);
    await api.send('POST', `/sessions/${id}/messages`, { content: 'x'.repeat(9_000_000) });
    await api.send('POST', `/sessions/${id}/messages`, { content: 'y'.repeat(9_000_000) });
    const all = await until(
      'all turns have ended',
      async () => {
        const { body } = await api.get(`/sessions/${id}`);
        return body.data.status === 'idle' && body.data.queued_turns === 0
          ? Number(body.data.last_seq)
          : undefined;
      },
      25_000,
    );
    const url = `${system.url}/api/v1/sessions/${id}/events/stream`;
    const connection = openRaw(system.url);
    connection.socket.pause();
    connection.send(`GET ${new URL(url).pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until('the stream is closed', async () => (await followsEnded(system)) === 1);
    connection.socket.resume();
    let text = '';
    let end = '';
    connection.socket.on('data', (chunk) => {
      text += chunk;
      end = (end + String(chunk)).slice(-5);
      if (end === '0\r\n\r\n') connection.socket.destroy();
    });
    await connection.rest();
    // Complete events end with an empty line. An incomplete event is requested again.
    const completeSeqs = text
      .split('\n\n')
      .slice(0, -1)
      .flatMap((frame) => /^id: (\d+)$/m.exec(frame)?.[1] ?? [])
      .map(Number);
    expect(completeSeqs.length).toBeLessThan(all);
    const received = [...completeSeqs];
    // On a busy machine the client may be too slow repeatedly and reconnects each time.
    for (let frames: Frame[] = []; !caughtUp(frames); ) {
      frames = await readStream(url, caughtUp, { 'Last-Event-ID': String(received.at(-1) ?? 0) });
      received.push(...seqs(frames));
    }
    expect(received).toEqual(upTo(all));
  });
});
