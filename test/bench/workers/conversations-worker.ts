/**
 * Worker process: holds conversations with an agent. Each reads the session's event stream and sends its next message when the
 * previous turn has ended.
 */

import { type EventSocket, eventsPath, openEvents } from '../clients/event-socket.ts';
import { openRequests } from '../clients/requests.ts';
import { MESSAGE, TURNS_PER_CONVERSATION } from '../fixtures/conversation.ts';
import { runWorker } from './worker.ts';

export interface ConversationsJob {
  port: number;
  agent: string;
  conversations: number;
  warmUpMs: number;
  durationMs: number;
}

/** All ended turns, and the durations of those within the measured time. */
export interface ConversationsFigures {
  ended: number;
  turnsMs: number[];
  /** CPU time of this worker in that time. */
  cpuMs: number;
}

runWorker(async (job: ConversationsJob, ready): Promise<ConversationsFigures> => {
  const from = performance.now() + job.warmUpMs;
  const until = from + job.durationMs;
  const turnsMs: number[] = [];
  let ended = 0;
  let warmedUp = process.cpuUsage();
  const warm = setTimeout(() => {
    warmedUp = process.cpuUsage();
    ready();
  }, job.warmUpMs);
  const conversations = Array.from({ length: job.conversations }, () =>
    runConversations(job, until, (sentAt) => {
      ended++;
      const now = performance.now();
      if (now >= from && now <= until) turnsMs.push(now - sentAt);
    }),
  );
  await Promise.all(conversations).finally(() => clearTimeout(warm));
  const { user, system } = process.cpuUsage(warmedUp);
  return { ended, turnsMs, cpuMs: (user + system) / 1_000 };
});

async function runConversations(
  job: ConversationsJob,
  until: number,
  ended: (sentAt: number) => void,
): Promise<void> {
  const requests = openRequests(job.port);
  const begin = JSON.stringify({ message: MESSAGE });
  const next = JSON.stringify({ content: MESSAGE });
  while (performance.now() < until) {
    let sentAt = performance.now();
    const response = await requests.post(`/api/v1/agents/${job.agent}/conversations`, begin, 201);
    const { session_id: session } = JSON.parse(response).data as { session_id: string };
    const turns = countEndedTurns(job.port, session);
    await turns.ended(1);
    ended(sentAt);
    for (let turn = 2; turn <= TURNS_PER_CONVERSATION && performance.now() < until; turn++) {
      sentAt = performance.now();
      await Promise.all([
        requests.post(`/api/v1/sessions/${session}/messages`, next, 202),
        turns.ended(turn),
      ]);
      ended(sentAt);
    }
    turns.socket.close();
  }
  requests.close();
}

/** Counts the ended turns of a session. */
function countEndedTurns(port: number, session: string) {
  let count = 0;
  let lost: Error | undefined;
  let waiter: { count: number; reached: PromiseWithResolvers<void> } | undefined;
  const socket: EventSocket = openEvents(port, eventsPath(session), {
    frame({ type }) {
      if (type === 'session.status_idle') count++;
      if (waiter && count >= waiter.count) waiter.reached.resolve();
    },
    lost(error) {
      lost = error;
      waiter?.reached.reject(error);
    },
  });
  return {
    socket,
    async ended(turns: number): Promise<void> {
      if (lost) throw lost;
      if (count >= turns) return;
      waiter = { count: turns, reached: Promise.withResolvers() };
      await waiter.reached.promise;
    },
  };
}
