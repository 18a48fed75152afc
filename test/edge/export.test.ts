import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { openRaw } from '../support/raw-http.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import { expectHeaders, expectRefusal, readResponse } from './envelope.ts';

describe('GET /sessions/{session_id}/export', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem({ SERVICE_STREAM_STALL_SECONDS: '1' });
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const urlOf = (session: string) => `${system.url}/api/v1/sessions/${session}/export`;
  async function begin(message: string): Promise<string> {
    const agent = await api.createAgent();
    const { body } = await api.post(`/agents/${agent}/conversations`, { message });
    const session = String(body.data.session_id);
    await until(
      'the turn has ended',
      async () => (await api.get(`/sessions/${session}`)).body.data.status === 'idle',
    );
    return session;
  }

  /** The number of exports that have ended, completely or not. */
  async function exportsEnded(): Promise<number> {
    const metrics = await (await fetch(`${system.url}/metrics`)).text();
    const counts = metrics.matchAll(/ahs_http_request_duration_seconds_count\{[^}]*export"[^}]*\} (\d+)/g);
    return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0);
  }

  it('returns one event per line in the same bytes as the list', async () => {
    const session = await begin('one two\nthree \u2028 "four" \\ \ud83d\udc4b');
    const response = await fetch(urlOf(session));
    expectHeaders({ status: 200, headers: response.headers, text: '' });
    expect(response.headers.get('content-type')).toBe('application/x-ndjson');
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${session}.jsonl"`);
    const text = await response.text();
    expect(text.endsWith('\n')).toBe(true);
    const listed = await (await fetch(`${system.url}/api/v1/sessions/${session}/events?limit=100`)).text();
    expect(listed).toContain(`"data":[${text.trimEnd().split('\n').join(',')}],"page"`);
  });

  it('ends while the session continues', async () => {
    const agent = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'a long story '.repeat(100), chunk_chars: 2, delay_ms: 20 }] },
    });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'tell' });
    const session = String(body.data.session_id);
    const text = await (await fetch(urlOf(session))).text();
    expect(text.split('\n').length).toBeGreaterThan(2);
    expect((await api.get(`/sessions/${session}`)).body.data.status).not.toBe('idle');
    await api.post(`/sessions/${session}/interrupt`);
  });

  it('supports HEAD and returns SESSION_NOT_FOUND for an unknown session', async () => {
    const session = await begin('hello');
    const head = await fetch(urlOf(session), { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      'application/x-ndjson',
      '',
    ]);
    expectRefusal(await readResponse(await fetch(urlOf(`ses_${'7Z'.repeat(13)}`))), 'SESSION_NOT_FOUND');
    expectRefusal(await readResponse(await fetch(`${urlOf(session)}?after_seq=1`)), 'INVALID_REQUEST');
  });

  it('closes the connection of a stalled client without a regular end', async () => {
    const session = await begin('x'.repeat(9_000_000));
    const before = await exportsEnded();
    const connection = openRaw(system.url);
    connection.socket.pause();
    connection.send(`GET ${new URL(urlOf(session)).pathname} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until('the export has ended', async () => (await exportsEnded()) > before);
    connection.socket.resume();
    const text = await connection.rest();
    expect(text).toContain('application/x-ndjson');
    expect(text.endsWith('0\r\n\r\n')).toBe(false);
  });
});
