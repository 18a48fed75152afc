import { describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { createFollowers } from '../../../services/sessions/followers.ts';
import type { FollowChunk } from '../../../services/sessions/journal-follower.ts';
import { createFakeClock } from '../../support/clock.ts';

const EVENTS_PER_READ = 256;
const EVENT_CHARACTERS = 1_024;
const READ_CHARACTERS = EVENTS_PER_READ * EVENT_CHARACTERS;
/** The limits of journal-follower.ts and read-ahead.ts. */
const CHUNK_CHARACTERS = 64 * 1_024;
const READ_AHEAD_CHARACTERS = 16 * 1_024 * 1_024;

/** Followers of journals that never end. Each read is counted and returns `EVENTS_PER_READ` events. */
function openFollowers(characters = EVENT_CHARACTERS) {
  const clock = createFakeClock();
  let reads = 0;
  const followers = createFollowers({
    tails: async (_, afterSeq) => {
      reads++;
      const events = Array.from({ length: EVENTS_PER_READ }, (_event, index) => ({
        seq: afterSeq + 1 + index,
        type: 'agent.message_delta',
        json: 'x'.repeat(characters),
      }));
      return { events, complete: false };
    },
    headsAfter: async () => [],
    bus: createLocalBus(),
    clock,
    warn: () => {},
  });
  const follow = (session: number) =>
    followers.follow(`ses_${session}`, 0, { types: [], isPassive: false }, new AbortController().signal);
  return { follow, reads: () => reads, [Symbol.dispose]: () => followers.close() };
}

async function nextChunk(chunks: AsyncIterator<FollowChunk>): Promise<FollowChunk> {
  const { done, value } = await chunks.next();
  if (done) throw new Error('the journal has ended');
  return value;
}

describe('followers of a journal', () => {
  it('get chunks of at most 64 KiB, without another read for the rest of a read', async () => {
    using opened = openFollowers();
    const chunks = opened.follow(1);
    await nextChunk(chunks);
    const seqs: number[] = [];
    while (seqs.length < EVENTS_PER_READ) {
      const { events, seq, caughtUp } = await nextChunk(chunks);
      expect(events.length * EVENT_CHARACTERS).toBeLessThanOrEqual(CHUNK_CHARACTERS);
      seqs.push(...events.map((event) => event.seq));
      expect([seq, caughtUp]).toEqual([seqs.at(-1), false]);
    }
    expect(seqs).toEqual(Array.from({ length: EVENTS_PER_READ }, (_, index) => index + 1));
    expect(opened.reads()).toBe(1);
  });

  it('get one event per chunk when events are longer than a chunk', async () => {
    using opened = openFollowers(2 * CHUNK_CHARACTERS);
    const chunks = opened.follow(1);
    await nextChunk(chunks);
    for (let seq = 1; seq <= 3; seq++)
      expect((await nextChunk(chunks)).events.map((event) => event.seq)).toEqual([seq]);
  });

  it('read again what was dropped because waiting followers may hold only 16 MiB', async () => {
    using opened = openFollowers();
    const held = Math.ceil(READ_AHEAD_CHARACTERS / (READ_CHARACTERS - CHUNK_CHARACTERS));
    const all = Array.from({ length: 2 * held }, (_, session) => opened.follow(session));
    const positions: number[] = [];
    for (const chunks of all) {
      await nextChunk(chunks);
      positions.push((await nextChunk(chunks)).seq);
    }
    expect(opened.reads()).toBe(all.length);
    // The newest follower still has the rest of its read, the oldest has not. Both continue after their last event.
    for (const [chunks, position, reads] of [
      [all.at(-1), positions.at(-1), all.length],
      [all.at(0), positions.at(0), all.length + 1],
    ] as const) {
      if (!chunks) throw new Error('there are followers');
      expect((await nextChunk(chunks)).events[0]?.seq).toBe((position ?? 0) + 1);
      expect(opened.reads()).toBe(reads);
    }
  });

  it('read events whose hint was lost, which one query finds for all of them', async () => {
    const clock = createFakeClock();
    const asked: { sessionIds: string[]; seqs: number[] }[] = [];
    let last = 1;
    const followers = createFollowers({
      tails: async (_, afterSeq) => ({
        events: afterSeq < last ? [{ seq: last, type: 'user.message', json: '{}' }] : [],
        complete: true,
      }),
      headsAfter: async (sessionIds, seqs) => {
        asked.push({ sessionIds, seqs });
        return last > 1 ? [{ sessionId: 'ses_1', lastSeq: last }] : [];
      },
      bus: createLocalBus(),
      clock,
      warn: () => {},
    });
    using _closed = { [Symbol.dispose]: () => followers.close() };
    const follow = (sessionId: string, afterSeq: number) =>
      followers.follow(sessionId, afterSeq, { types: [], isPassive: false }, new AbortController().signal);
    const [waiting, slow, other] = [follow('ses_1', 0), follow('ses_1', 0), follow('ses_2', 1)];
    for (const chunks of [waiting, slow, other]) await nextChunk(chunks);
    expect((await nextChunk(waiting)).seq).toBe(1);
    const found = nextChunk(waiting);
    last = 2;
    clock.advance(1_000);
    expect((await found).seq).toBe(2);
    // One of the followers of the session has not read its first event.
    expect(asked).toEqual([{ sessionIds: ['ses_1', 'ses_2'], seqs: [0, 1] }]);
  });
});
