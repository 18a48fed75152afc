import { describe, expect, it } from 'vitest';
import {
  type FollowRequest,
  type FollowResponse,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { ALL_TRANSPORTS, connect, createContext } from '../../support/context.ts';
import { fakeEndpoint } from '../../support/fake-service.ts';

const MESSAGE_CHARACTERS = 64 * 1_024;
/** Messages in the buffers of both processes and of the connection between them. */
const MAX_BUFFERED = 8;
const MESSAGES = 300;

describe.each(ALL_TRANSPORTS)('response streams over %s', (transport) => {
  it('buffer few messages for a reader that has stopped, and do not delay other readers', async () => {
    const context = createContext('');
    const sent = new Map<string, number>();
    async function* follow({ sessionId }: FollowRequest): AsyncGenerator<FollowResponse> {
      const event = { seq: 1, type: 'agent.message', json: 'x'.repeat(MESSAGE_CHARACTERS) };
      for (let seq = 1; seq <= MESSAGES; seq++) {
        sent.set(sessionId, seq);
        yield { events: [event], seq, caughtUp: false };
      }
    }
    const endpoint = fakeEndpoint(SessionsServiceDefinition, { follow }, 'edge', context);
    await using connected = await connect(SessionsServiceDefinition, endpoint, transport, context);
    const client = connected.as('edge');
    const leave = new AbortController();
    const streamOf = (sessionId: string) =>
      client.follow(
        { sessionId, afterSeq: 0, fromNow: false, types: [], untilCaughtUp: false },
        { signal: leave.signal },
      );

    const stopped = Array.from({ length: 20 }, (_, index) => `stopped ${index}`);
    const unread = stopped.map((sessionId) => streamOf(sessionId)[Symbol.asyncIterator]());
    await Promise.all(unread.map((messages) => messages.next()));
    let received = 0;
    for await (const { seq } of streamOf('reading')) expect(seq).toBe(++received);
    expect(received).toBe(MESSAGES);
    for (const sessionId of stopped) expect(sent.get(sessionId)).toBeLessThanOrEqual(MAX_BUFFERED);
    leave.abort();
    await Promise.allSettled(unread.map((messages) => messages.return?.()));
  });
});
