/**
 * Holds conversations with an agent: each sends its next message as soon as the turn before it has ended, which it
 * reads, with everything the agent says, from the session's event stream. Runs as a process of its own.
 */
import { carryOut } from './errand.ts';
import { type EventSocket, eventsPath, openEvents } from './event-socket.ts';
import { openRequests } from './requests.ts';
import { MESSAGE, TURNS_PER_CONVERSATION } from './talk.ts';

export interface TalkJob {
  port: number;
  agent: string;
  conversations: number;
  warmUpMs: number;
  durationMs: number;
}

/** Turns that have ended: all of them, and those of the measured time, each from its message on. */
export interface TalkFigures {
  ended: number;
  turnsMs: number[];
  /** Of the talkers themselves, in that time. */
  cpuMs: number;
}

carryOut(async (job: TalkJob, ready): Promise<TalkFigures> => {
  const from = performance.now() + job.warmUpMs;
  const until = from + job.durationMs;
  const turnsMs: number[] = [];
  let ended = 0;
  let warmedUp = process.cpuUsage();
  const warm = setTimeout(() => {
    warmedUp = process.cpuUsage();
    ready();
  }, job.warmUpMs);
  const talkers = Array.from({ length: job.conversations }, () =>
    talk(job, until, (sentAt) => {
      ended++;
      const now = performance.now();
      if (now >= from && now <= until) turnsMs.push(now - sentAt);
    }),
  );
  await Promise.all(talkers).finally(() => clearTimeout(warm));
  const { user, system } = process.cpuUsage(warmedUp);
  return { ended, turnsMs, cpuMs: (user + system) / 1_000 };
});

async function talk(job: TalkJob, until: number, ended: (sentAt: number) => void): Promise<void> {
  const requests = openRequests(job.port);
  const begin = JSON.stringify({ message: MESSAGE });
  const next = JSON.stringify({ content: MESSAGE });
  while (performance.now() < until) {
    let sentAt = performance.now();
    const begun = await requests.post(`/api/v1/agents/${job.agent}/conversations`, begin, 201);
    const { session_id: session } = JSON.parse(begun).data as { session_id: string };
    const turns = watchTurns(job.port, session);
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

/** Counts the turns that have ended in a session. */
function watchTurns(port: number, session: string) {
  let count = 0;
  let lost: Error | undefined;
  let wanted: { count: number; reached: PromiseWithResolvers<void> } | undefined;
  const socket: EventSocket = openEvents(port, eventsPath(session), {
    frame({ type }) {
      if (type === 'session.status_idle') count++;
      if (wanted && count >= wanted.count) wanted.reached.resolve();
    },
    lost(error) {
      lost = error;
      wanted?.reached.reject(error);
    },
  });
  return {
    socket,
    async ended(turns: number): Promise<void> {
      if (lost) throw lost;
      if (count >= turns) return;
      wanted = { count: turns, reached: Promise.withResolvers() };
      await wanted.reached.promise;
    },
  };
}
