import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { until } from '../../support/wait.ts';
import {
  AGENT,
  COMPLETED,
  claimOne,
  content,
  converse,
  type House,
  journalOf,
  OWNER,
  openHouse,
  reportOn,
  STRANGER,
  say,
  send,
} from './house.ts';

describe.each(TRANSPORTS)('follow, %s', (transport) => {
  let house: House;
  /** Followers that the service has done with. */
  let gone = 0;
  beforeAll(async () => {
    house = await openHouse(transport, {
      observe: ({ method }) => {
        if (method === 'follow') gone++;
      },
    });
  });
  afterAll(() => house[Symbol.asyncDispose]());

  const from = (sessionId: string, afterSeq = 0) => ({
    sessionId,
    afterSeq,
    fromNow: false,
    untilCaughtUp: false,
    types: [] as string[],
  });

  /** Reads until enough events have come, then leaves. */
  async function read(
    request: ReturnType<typeof from>,
    enough: (events: Event[]) => boolean,
  ): Promise<Event[]> {
    const leave = new AbortController();
    const events: Event[] = [];
    for await (const chunk of house.edge.follow(request, { caller: OWNER, signal: leave.signal })) {
      events.push(...chunk.events);
      if (enough(events)) break;
    }
    leave.abort();
    return events;
  }

  const ended = (events: Event[]) => events.at(-1)?.type === 'session.status_idle';

  it('gives what was there, says when it has caught up, and goes on', async () => {
    const sessionId = await converse(house, 'hello');
    const reading = read(from(sessionId), ended);
    const turn = await claimOne(house);
    await send(house, reportOn(turn, 1, { outcome: COMPLETED }));
    const events = await reading;
    expect(events).toEqual(await journalOf(house, sessionId));
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  });

  it('can be left and joined again anywhere with the same bytes', async () => {
    const sessionId = await converse(house, 'hello');
    const turn = await claimOne(house);
    const delta = (index: number) => ({
      type: 'agent.message_delta',
      dataJson: JSON.stringify({ index, delta: ',\\n"é' }),
    });
    await send(house, reportOn(turn, 1, { events: [0, 1, 2].map(delta) }));
    await send(house, reportOn(turn, 2, { events: [3, 4].map(delta), outcome: COMPLETED }));
    const whole = await journalOf(house, sessionId);
    for (let seq = 0; seq < whole.length; seq++) {
      const rest = await read(from(sessionId, seq), ended);
      expect([...whole.slice(0, seq), ...rest]).toEqual(whole);
    }
    expect(await journalOf(house, sessionId, 1)).toEqual(whole);
  });

  it('begins at the end when asked to, and filters by type', async () => {
    const sessionId = await converse(house, 'first');
    const stream = house.edge.follow(
      { ...from(sessionId), fromNow: true, types: ['user.message'] },
      { caller: OWNER },
    );
    const chunks = stream[Symbol.asyncIterator]();
    expect((await chunks.next()).value).toMatchObject({ events: [], seq: 4, caughtUp: false });
    expect((await chunks.next()).value).toMatchObject({ seq: 4, caughtUp: true });
    await say(house, sessionId, 'second');
    expect((await chunks.next()).value).toMatchObject({ events: [{ seq: 5, type: 'user.message' }], seq: 6 });
    await chunks.return?.();
  });

  it('ends with session.deleted', async () => {
    const sessionId = await converse(house, 'bye');
    const begun = Promise.withResolvers<void>();
    const reading = read(from(sessionId), () => {
      begun.resolve();
      return false;
    });
    // Who comes after it is gone is told that there is none.
    await begun.promise;
    await house.edge.deleteSession({ sessionId }, { caller: OWNER });
    expect((await reading).map((event) => event.type).slice(-2)).toEqual([
      'turn.cancelled',
      'session.deleted',
    ]);
  });

  it.each([1, 2])('is done with a follower who leaves behind message %i', async (last) => {
    const sessionId = await converse(house, 'hello');
    const before = gone;
    let messages = 0;
    for await (const _ of house.edge.follow(from(sessionId), { caller: OWNER })) {
      if (++messages === last) break;
    }
    await until('nobody follows any more', () => gone === before + 1);
  });

  it('is done with a follower who leaves while it waits', async () => {
    const sessionId = await converse(house, 'hello');
    const before = gone;
    const leave = new AbortController();
    const reading = (async () => {
      for await (const { caughtUp } of house.edge.follow(from(sessionId), {
        caller: OWNER,
        signal: leave.signal,
      })) {
        if (caughtUp) setImmediate(() => leave.abort());
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'CANCELLED' });
    await until('nobody follows any more', () => gone === before + 1);
  });

  it('ends for a follower who leaves at any moment before', async () => {
    const sessionId = await converse(house, 'hello');
    for (const ticks of [0, 1, 2, 3, 5, 8, 13, 21]) {
      const leave = new AbortController();
      const reading = (async () => {
        for await (const _ of house.edge.follow(from(sessionId), { caller: OWNER, signal: leave.signal }));
      })();
      const left = expect(reading).rejects.toMatchObject({ code: 'CANCELLED' });
      for (let tick = 0; tick < ticks; tick++) await new Promise((resolve) => setImmediate(resolve));
      leave.abort();
      await left;
    }
  });

  it('refuses a place beyond the end, an unknown type and a stranger', async () => {
    const sessionId = await converse(house);
    const first = (request: ReturnType<typeof from>, caller = OWNER) =>
      house.edge.follow(request, { caller })[Symbol.asyncIterator]().next();
    await expect(first(from(sessionId, 2))).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    await expect(first({ ...from(sessionId), types: ['user.mesage'] })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
    await expect(first(from(sessionId), STRANGER)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });

  it('sees every event once and in order while many append', async () => {
    const sessionId = await converse(house);
    const wanted = 1 + 40 * 2 + 1;
    const followers = [0, 1, 2].map(() => read(from(sessionId), (events) => events.length >= wanted));
    const sent = await Promise.all(
      Array.from({ length: 40 }, (_, i) => say(house, sessionId, `message ${i}`)),
    );
    for (const events of await Promise.all(followers)) {
      expect(events.slice(0, wanted).map((event) => event.seq)).toEqual(
        Array.from({ length: wanted }, (_, i) => i + 1),
      );
      expect(events).toEqual((await journalOf(house, sessionId)).slice(0, events.length));
      for (const { seq } of sent) expect(events[seq - 1]?.type).toBe('user.message');
    }
  });
});

describe('the text of a message', () => {
  it('reaches its reader as it came', async () => {
    await using house = await openHouse('in process');
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const request = {
          agentId: AGENT,
          contentJson: content(text),
          title: '',
          metadata: {},
          idempotencyKey: '',
        };
        const { session } = await house.edge.createConversation(request, { caller: OWNER });
        const events = await journalOf(house, session?.sessionId ?? '');
        expect(JSON.parse(events[1]?.json ?? '').data.content[0].text).toBe(text);
      }),
      { numRuns: 50 },
    );
  });
});
