import { type Bench, type Spread, spreadOf, within } from '../../bench.ts';
import { type Follower, follow } from '../../clients/follower.ts';
import { type BenchWebhook, BODY, createWebhook } from '../../fixtures/webhook.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

export interface Latency {
  /** From the trigger's 200 to the first event at a follower that connects at once. */
  first: Spread;
  /** From sending a message to its event at each follower. */
  fanOut: Spread;
  /** From sending a message to its event at the last follower. */
  last: Spread;
}

const FOLLOWERS = 200;
/** Rates that leave the machine mostly idle. */
const TRIGGERS_PER_SECOND = 20;
const MESSAGES_PER_SECOND = 5;
const WARM_UPS = 20;
const EVENT = '\nid: ';
const IDLE = '\nevent: session.status_idle\n';

/** c: latencies of followers on an idle machine. */
export async function measureLatency(bench: Bench): Promise<Latency> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const webhook = await createWebhook(subject.origin);
  const seconds = bench.durationMs / 1_000;
  const { firsts, ends } = await Promise.race([
    subject.failed,
    within('the first events', firstEvents(subject, webhook, Math.ceil(TRIGGERS_PER_SECOND * seconds))),
  ]);
  const { all, lasts } = await Promise.race([
    subject.failed,
    within('the fan-out', fanOut(subject, webhook, Math.ceil(MESSAGES_PER_SECOND * seconds))),
  ]);
  report(bench, "from a trigger's 200 to the end of its turn", spreadOf(ends));
  return {
    first: report(bench, "from a trigger's 200 to the first event", spreadOf(firsts)),
    fanOut: report(bench, `from a message to its event at each of ${FOLLOWERS} followers`, spreadOf(all)),
    last: report(bench, 'from a message to its event at the last of them', spreadOf(lasts)),
  };
}

async function firstEvents({ origin }: Subject, { api, webhook }: BenchWebhook, count: number) {
  const firsts: number[] = [];
  const ends: number[] = [];
  for (let index = -WARM_UPS; index < count; index++) {
    const { body } = await api.trigger(webhook, BODY);
    const acceptedAt = performance.now();
    const follower = follow(streamOf(origin, body.data.session_id));
    const firstAt = await follower.waitFor(EVENT);
    const endedAt = await follower.waitFor(IDLE);
    follower.leave();
    if (index < 0) continue;
    firsts.push(firstAt - acceptedAt);
    ends.push(endedAt - acceptedAt);
  }
  return { firsts, ends };
}

async function fanOut({ origin }: Subject, { api, webhook }: BenchWebhook, count: number) {
  const { body } = await api.trigger(webhook, BODY);
  const session = String(body.data.session_id);
  const all: number[] = [];
  const lasts: number[] = [];
  const followers: Follower[] = [];
  try {
    while (followers.length < FOLLOWERS) followers.push(follow(streamOf(origin, session)));
    await Promise.all(followers.map((one) => one.waitFor(IDLE)));
    for (let index = -WARM_UPS; index < count; index++) {
      const content = `message ${index + WARM_UPS} of the bench`;
      const seen = followers.map((one) => one.waitFor(content));
      const sentAt = performance.now();
      const { status } = await api.post(`/sessions/${session}/messages`, { content });
      if (status !== 202) throw new Error(`a message was answered with ${status}`);
      const delays = (await Promise.all(seen)).map((at) => at - sentAt);
      await Promise.all(followers.map((one) => one.waitFor(IDLE)));
      if (index < 0) continue;
      all.push(...delays);
      lasts.push(Math.max(...delays));
    }
  } finally {
    for (const one of followers) one.leave();
  }
  return { all, lasts };
}

const streamOf = (origin: string, session: unknown) => `${origin}/api/v1/sessions/${session}/events/stream`;

function report(bench: Bench, what: string, spread: Spread): Spread {
  bench.print('c', `${what}: p50 ${spread.p50Ms.toFixed(2)} ms, p99 ${spread.p99Ms.toFixed(2)} ms`);
  return spread;
}
