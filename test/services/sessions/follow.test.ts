import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import {
  AGENT,
  COMPLETED,
  claimTurn,
  content,
  createConversation,
  journalOf,
  OWNER,
  openSystem,
  reportFor,
  type SessionsSystem,
  STRANGER,
  sendReports,
  sendText,
} from './system.ts';

describe.each(TRANSPORTS)('Follow over %s', (transport) => {
  let system: SessionsSystem;
  /** Number of Follow RPCs that have ended in the service. */
  let endedRpcs = 0;
  beforeAll(async () => {
    system = await openSystem(transport, {
      observe: ({ method }) => {
        if (method === 'follow') endedRpcs++;
      },
    });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const from = (sessionId: string, afterSeq = 0) => ({
    sessionId,
    afterSeq,
    fromNow: false,
    untilCaughtUp: false,
    types: [] as string[],
  });

  /** Reads until `enough` returns true for the events so far, then cancels. */
  async function read(
    request: ReturnType<typeof from> & { mergeDeltas?: boolean },
    enough: (events: Event[]) => boolean,
  ): Promise<Event[]> {
    const leave = new AbortController();
    const events: Event[] = [];
    for await (const chunk of system.edge.follow(request, { caller: OWNER, signal: leave.signal })) {
      events.push(...chunk.events);
      if (enough(events)) break;
    }
    leave.abort();
    return events;
  }

  const ended = (events: Event[]) => events.at(-1)?.type === 'session.status_idle';

  it('sends existing events and then new ones', async () => {
    const sessionId = await createConversation(system, 'hello');
    const reading = read(from(sessionId), ended);
    const turn = await claimTurn(system);
    await sendReports(system, reportFor(turn, 1, { outcome: COMPLETED }));
    const events = await reading;
    expect(events).toEqual(await journalOf(system, sessionId));
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  });

  it('does not count a passive follower for the pace of reports, which gets every event', async () => {
    const sessionId = await createConversation(system, 'hello');
    const turn = await claimTurn(system);
    let reports = 0;
    const isFollowed = async () => {
      const [result] = await sendReports(system, reportFor(turn, ++reports));
      expect(result?.errorMessage).toBe('');
      return result?.followed;
    };
    const follow = (client: SessionsSystem['edge'], passive: boolean) => {
      const leave = new AbortController();
      const request = { ...from(sessionId), passive };
      const chunks = client.follow(request, { caller: OWNER, signal: leave.signal })[Symbol.asyncIterator]();
      return { chunks, leave: () => leave.abort() };
    };
    const worker = follow(system.channels, true);
    await worker.chunks.next();
    expect(await isFollowed()).toBe(false);
    const person = follow(system.edge, false);
    await person.chunks.next();
    expect(await isFollowed()).toBe(true);
    person.leave();
    await until('the session is followed no more', async () => !(await isFollowed()));
    await sendReports(system, reportFor(turn, ++reports, { outcome: COMPLETED }));
    const events: Event[] = [];
    while (!ended(events)) events.push(...((await worker.chunks.next()).value?.events ?? []));
    expect(events).toEqual(await journalOf(system, sessionId));
    worker.leave();
  });

  it('sends the same bytes from every seq on', async () => {
    const sessionId = await createConversation(system, 'hello');
    const turn = await claimTurn(system);
    const delta = (index: number) => ({
      type: 'agent.message_delta',
      dataJson: JSON.stringify({ index, delta: ',\\n"é' }),
    });
    await sendReports(system, reportFor(turn, 1, { events: [0, 1, 2].map(delta) }));
    await sendReports(system, reportFor(turn, 2, { events: [3, 4].map(delta), outcome: COMPLETED }));
    const journal = await journalOf(system, sessionId);
    for (let seq = 0; seq < journal.length; seq++) {
      const rest = await read(from(sessionId, seq), ended);
      expect([...journal.slice(0, seq), ...rest]).toEqual(journal);
    }
    expect(await journalOf(system, sessionId, 1)).toEqual(journal);
  });

  it('joins consecutive deltas of a message with merge_deltas', async () => {
    const sessionId = await createConversation(system, 'hello');
    const turn = await claimTurn(system);
    const texts = [',\\n"é', '\ud83d', '\ude00"}}', '', 'message_id":"'];
    const deltas = (message_id: string) =>
      texts.map((delta, index) => ({
        type: 'agent.message_delta',
        dataJson: JSON.stringify({ message_id, index, delta }),
      }));
    const unknown = {
      type: 'agent.message_delta',
      dataJson: JSON.stringify({ delta: 'x', message_id: 'msg_1' }),
    };
    const thought = {
      type: 'agent.thinking',
      dataJson: JSON.stringify({ message_id: 'msg_2', content: [] }),
    };
    await sendReports(
      system,
      reportFor(turn, 1, { events: [...deltas('msg_1'), ...deltas('msg_2'), thought, ...deltas('msg_2')] }),
    );
    await sendReports(system, reportFor(turn, 2, { events: [unknown, unknown], outcome: COMPLETED }));
    const journal = (await journalOf(system, sessionId)).map(({ json }) => JSON.parse(json));
    const merged = (await read({ ...from(sessionId), mergeDeltas: true }, ended)).map(
      ({ seq, type, json }) => {
        const event = JSON.parse(json);
        expect([event.seq, event.type]).toEqual([seq, type]);
        return event;
      },
    );
    expect(merged.length).toBe(journal.length - 3 * (texts.length - 1));
    for (const event of merged) {
      const original = journal.find(({ seq }) => seq === event.seq);
      const isJoined = event.type === 'agent.message_delta' && event.data.index === 0;
      const data = isJoined ? { ...original.data, delta: texts.join('') } : original.data;
      expect(event).toEqual({ ...original, data });
    }
  });

  it('starts at the newest event with from_now and filters by type', async () => {
    const sessionId = await createConversation(system, 'first');
    const stream = system.edge.follow(
      { ...from(sessionId), fromNow: true, types: ['user.message'] },
      { caller: OWNER },
    );
    const chunks = stream[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toMatchObject({ events: [], seq: 4, caughtUp: false });
    expect((await chunks.next()).value).toMatchObject({ seq: 4, caughtUp: true });
    await sendText(system, sessionId, 'second');
    expect((await chunks.next()).value).toMatchObject({ events: [{ seq: 5, type: 'user.message' }], seq: 6 });
    await chunks.return?.();
  });

  it('ends after session.deleted', async () => {
    const sessionId = await createConversation(system, 'bye');
    const started = Promise.withResolvers<void>();
    const reading = read(from(sessionId), () => {
      started.resolve();
      return false;
    });
    // A Follow that starts after the deletion would be refused.
    await started.promise;
    await system.edge.deleteSession({ sessionId }, { caller: OWNER });
    expect((await reading).map((event) => event.type).slice(-2)).toEqual([
      'turn.cancelled',
      'session.deleted',
    ]);
  });

  it.each([1, 2])('ends the RPC when the client stops reading after chunk %i', async (last) => {
    const sessionId = await createConversation(system, 'hello');
    const before = endedRpcs;
    let messages = 0;
    for await (const _ of system.edge.follow(from(sessionId), { caller: OWNER })) {
      if (++messages === last) break;
    }
    await until('the RPC has ended', () => endedRpcs === before + 1);
  });

  it('ends the RPC when the client cancels while waiting for events', async () => {
    const sessionId = await createConversation(system, 'hello');
    const before = endedRpcs;
    const leave = new AbortController();
    const reading = (async () => {
      for await (const { caughtUp } of system.edge.follow(from(sessionId), {
        caller: OWNER,
        signal: leave.signal,
      })) {
        if (caughtUp) setImmediate(() => leave.abort());
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'CANCELLED' });
    await until('the RPC has ended', () => endedRpcs === before + 1);
  });

  it('ends with CANCELLED when the client cancels at any moment before', async () => {
    const sessionId = await createConversation(system, 'hello');
    for (const ticks of [0, 1, 2, 3, 5, 8, 13, 21]) {
      const leave = new AbortController();
      const reading = (async () => {
        for await (const _ of system.edge.follow(from(sessionId), { caller: OWNER, signal: leave.signal }));
      })();
      const left = expect(reading).rejects.toMatchObject({ code: 'CANCELLED' });
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
      leave.abort();
      await left;
    }
  });

  it('refuses a seq after the newest event, an unknown event type and another user', async () => {
    const sessionId = await createConversation(system);
    const first = (request: ReturnType<typeof from>, caller = OWNER) =>
      system.edge.follow(request, { caller })[Symbol.asyncIterator]().next();
    await expect(first(from(sessionId, 2))).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    await expect(first({ ...from(sessionId), types: ['user.mesage'] })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    await expect(first(from(sessionId), STRANGER)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('sends every event once and in order during concurrent appends', async () => {
    const sessionId = await createConversation(system);
    const expectedCount = 1 + 40 * 2 + 1;
    const followers = [0, 1, 2].map(() => read(from(sessionId), (events) => events.length >= expectedCount));
    const sent = await Promise.all(
      Array.from({ length: 40 }, (_, i) => sendText(system, sessionId, `message ${i}`)),
    );
    for (const events of await Promise.all(followers)) {
      expect(events.slice(0, expectedCount).map((event) => event.seq)).toEqual(
        Array.from({ length: expectedCount }, (_, i) => i + 1),
      );
      expect(events).toEqual((await journalOf(system, sessionId)).slice(0, events.length));
      for (const { seq } of sent) expect(events[seq - 1]?.type).toBe('user.message');
    }
  });
});

describe('CreateConversation', () => {
  it('stores any text of a message unchanged', async () => {
    await using system = await openSystem('in process');
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const request = {
          agentId: AGENT,
          contentJson: content(text),
          title: '',
          metadata: {},
          idempotencyKey: '',
        };
        const { session } = await system.edge.createConversation(request, { caller: OWNER });
        const events = await journalOf(system, session?.sessionId ?? '');
        expect(JSON.parse(events[1]?.json ?? '').data.content[0].text).toBe(text);
      }),
      { numRuns: 50 },
    );
  });
});
