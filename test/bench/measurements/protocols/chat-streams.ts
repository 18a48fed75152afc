import { createApi } from '../../../support/api.ts';
import { type Bench, percentile } from '../../bench.ts';
import {
  beginConversation,
  STREAM_PROTOCOLS,
  type StreamedConversation,
  type StreamProtocol,
} from '../../clients/streamed-conversation.ts';
import { MESSAGE, TURNS_PER_CONVERSATION } from '../../fixtures/conversation.ts';
import { createMeter } from '../../subjects/meter.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';
import type { StreamedTurnsFigures, StreamedTurnsJob } from '../../workers/streamed-turns-worker.ts';
import { startWorker } from '../../workers/worker.ts';

/** Streams of chat completions beside those of `ai-stream`. */
export interface ChatStreams {
  /** Streamed turns per second. */
  perSecond: Record<StreamProtocol, number>;
  /** Median time from a request to its first text, on an idle system, in milliseconds. */
  firstTokenMs: Record<StreamProtocol, number>;
}

const CONVERSATIONS = 20;
/** The protocols alternate, so that a temporary slowdown affects both. */
const PASSES = 2;
const WARM_UP_MS = 2_000;
const TIMEOUT_MS = 30_000;
const FIRST_TOKENS = 100;
const WARM_UPS = 10;
/** Longer than the pause between two reports, so that the first text is reported before the end of the turn. */
const SLOW_STEPS = [{ text: 'First words. ' }, { text: 'Last words.', delay_ms: 150 }];

/** u": turns that are read as streams, in conversations without pauses, and the time to their first text. */
export async function measureChatStreams(bench: Bench): Promise<ChatStreams> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const echo = await api.createAgent();
  const perSecond = { 'ai-stream': 0, 'chat-completions': 0 };
  for (let pass = 0; pass < PASSES; pass++)
    for (const protocol of STREAM_PROTOCOLS)
      perSecond[protocol] += (await measureRate(bench, subject, echo, protocol)) / PASSES;
  const slow = await api.createAgent({ model: 'rehearsal/script', model_options: { steps: SLOW_STEPS } });
  return { perSecond, firstTokenMs: await measureFirstTokens(bench, subject, slow) };
}

async function measureRate(
  bench: Bench,
  subject: Subject,
  agent: string,
  protocol: StreamProtocol,
): Promise<number> {
  const job: StreamedTurnsJob = {
    ...{ agent, protocol, port: portOf(subject) },
    conversations: Math.ceil(CONVERSATIONS * bench.scale),
    warmUpMs: Math.min(WARM_UP_MS, bench.durationMs),
    durationMs: bench.durationMs / PASSES,
  };
  const timeoutMs = job.warmUpMs + job.durationMs + TIMEOUT_MS;
  const meter = createMeter(bench, subject);
  await using worker = startWorker<StreamedTurnsFigures>('streamed-turns-worker.ts', job, {
    timeoutMs,
    failed: subject.failed,
  });
  await worker.ready;
  await meter.begin();
  const { turns, firstTokensMs, cpuMs } = await worker.figures;
  const costs = await meter.end(turns, 'turn');
  const perSecond = turns / (job.durationMs / 1_000);
  const own = ((cpuMs / turns) * 1_000).toFixed(0);
  const first = percentile(firstTokensMs, 0.5).toFixed(1);
  bench.print(
    'u"',
    `${protocol}, ${job.conversations} conversations: ${perSecond.toFixed(0)} turns/s, first text after ${first} ms ` +
      `(the client side costs ${own} µs)\n${costs}`,
  );
  return perSecond;
}

async function measureFirstTokens(
  bench: Bench,
  subject: Subject,
  agent: string,
): Promise<Record<StreamProtocol, number>> {
  const times = { 'ai-stream': [] as number[], 'chat-completions': [] as number[] };
  const open = new Map<StreamProtocol, StreamedConversation>();
  const count = Math.ceil(FIRST_TOKENS * bench.scale);
  for (let time = -WARM_UPS; time < count; time++) {
    for (const protocol of STREAM_PROTOCOLS) {
      const isNew = (time + WARM_UPS) % TURNS_PER_CONVERSATION === 0;
      if (isNew) open.get(protocol)?.close();
      const known = isNew ? undefined : open.get(protocol);
      const conversation = known ?? (await beginConversation({ port: portOf(subject), agent, protocol }));
      open.set(protocol, conversation);
      const { firstTokenMs } = await Promise.race([subject.failed, conversation.send(`${time}: ${MESSAGE}`)]);
      if (time >= 0) times[protocol].push(firstTokenMs);
    }
  }
  for (const conversation of open.values()) conversation.close();
  const median = (protocol: StreamProtocol) => percentile(times[protocol], 0.5);
  const medians = {
    'ai-stream': median('ai-stream'),
    'chat-completions': median('chat-completions'),
  };
  const texts = STREAM_PROTOCOLS.map((protocol) => `${protocol} ${medians[protocol].toFixed(2)} ms`);
  bench.print('u"', `first text of ${count} turns one after another: ${texts.join(', ')}`);
  return medians;
}

const portOf = ({ origin }: Subject) => Number(new URL(origin).port);
