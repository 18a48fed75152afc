import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

describe('GET /sessions/{session_id}/events', () => {
  let system: System;
  let api: Api;
  /** Creates a session with two turns whose messages were streamed in small deltas. */
  let session: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    const steps = [{ text: 'word '.repeat(60), chunk_chars: 5 }];
    const agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'begin' });
    session = String(body.data.session_id);
    await idle();
    await api.post(`/sessions/${session}/messages`, { content: 'again' });
    await idle();
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const idle = () =>
    until('the turns have ended', async () => {
      const { body } = await api.get(`/sessions/${session}`);
      return body.data.status === 'idle' && body.data.queued_turns === 0;
    });

  async function read(query: Record<string, string>): Promise<{ seq: number; type: string }[]> {
    const events: { seq: number; type: string }[] = [];
    let cursor: string | null = null;
    do {
      const params: URLSearchParams = new URLSearchParams({ ...query, ...(cursor ? { cursor } : {}) });
      const { status, body } = await api.get(`/sessions/${session}/events?${params}`);
      expect(status).toBe(200);
      expect(body.data.length).toBeLessThanOrEqual(Number(query.limit));
      events.push(...(body.data as { seq: number; type: string }[]));
      cursor = body.page?.next_cursor ?? null;
    } while (cursor !== null);
    return events;
  }

  it.each([
    {},
    { after_seq: '5' },
    { types: 'agent.message_delta' },
    { types: 'user.message,agent.message', after_seq: '2' },
    { types: 'session.deleted' },
  ])('newest_first is the reverse of oldest_first: %j', async (query: object) => {
    const forwards = await read({ ...query, limit: '100' });
    for (const limit of ['1', '7', '100']) {
      const backwards = await read({ ...query, limit, order: 'newest_first' });
      expect(backwards).toEqual(forwards.toReversed());
    }
  });

  it('newest_first begins with the newest event', async () => {
    const { body } = await api.get(`/sessions/${session}/events?order=newest_first&limit=1`);
    const shown = await api.get(`/sessions/${session}`);
    expect(body.data).toMatchObject([{ seq: shown.body.data.last_seq }]);
  });

  it('returns INVALID_CURSOR for a cursor of the other order', async () => {
    const { body } = await api.get(`/sessions/${session}/events?order=newest_first&limit=1`);
    const cursor = body.page?.next_cursor;
    const { status, body: refused } = await api.get(`/sessions/${session}/events?limit=1&cursor=${cursor}`);
    expect([status, refused.code]).toEqual([400, 'INVALID_CURSOR']);
  });

  it('returns 400 for an unknown order', async () => {
    const { status, body } = await api.get(`/sessions/${session}/events?order=random`);
    expect([status, body.code]).toEqual([400, 'INVALID_REQUEST']);
  });
});
