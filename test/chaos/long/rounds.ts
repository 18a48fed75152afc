import { brokenInvariants } from '../../support/invariants.ts';
import { startTestPostgres } from '../../support/postgres-server.ts';
import { compatible } from '../../support/providers/compatible.ts';
import { seeded } from '../random.ts';
import { answerOf, CODE_WORD, FIRST_MESSAGE, LAST_MESSAGE, readLogs } from './conversation.ts';
import { openLongSystem, type RunningRunner } from './system.ts';

/** A context window, and whether the agent declares it. Otherwise it is learned from refusals. */
export interface LongWindow {
  window: number;
  isDeclared: boolean;
}

export const WINDOWS: readonly LongWindow[] = [
  { window: 8_000, isDeclared: true },
  { window: 8_000, isDeclared: false },
  { window: 32_000, isDeclared: false },
  { window: 200_000, isDeclared: true },
];

interface LongOptions extends LongWindow {
  turns: number;
  /** A runner is killed once in so many turns, on average. */
  turnsPerKill: number;
  seed: number;
  print?(line: string): void;
}

interface LongFigures extends Omit<LongOptions, 'print'> {
  /** What the last answer says of the code word of the first message. */
  codeWord: string;
  kills: number;
  /** Requests that the provider refused because of their length. */
  refusals: number;
  compactions: Record<string, number>;
  /** Summaries that failed, by the reason of the event. */
  fallbacks: Record<string, number>;
  /** Ranges that were left out twice. */
  repeated: number[];
  movedFiles: number;
  images: number;
  toolCalls: number;
  failedTurns: number;
  broken: string[];
  seconds: number;
}

const RUNNERS = 2;
const LEASE_SECONDS = 3;
/** A kill follows its message after at most this time in milliseconds. */
const KILL_WITHIN_MS = 400;
const ANSWER_MS = 120_000;
/** Turns between two lines of progress. */
const PROGRESS_TURNS = 500;

/**
 * One conversation with large results of parallel tools and images, at a provider that counts strictly. Runners are killed at
 * random. Rejects when a turn does not end with an answer.
 */
export async function longRounds(options: LongOptions): Promise<LongFigures> {
  const { print, ...settings } = options;
  const { window, isDeclared, turns, turnsPerKill, seed } = settings;
  const begunAt = performance.now();
  const random = seeded(seed);
  await using server = await startTestPostgres();
  await using system = await openLongSystem({
    databaseUrl: server.url,
    leaseSeconds: LEASE_SECONDS,
    provider: { window, answer: answerOf, retained: 1 },
  });
  system.addAgent({
    ...{ model: compatible.model, system: 'You read logs.', maxSteps: 30 },
    ...{ modelOptionsJson: '{"max_output_tokens":1000}', context: isDeclared ? { window } : {} },
  });
  const runners: RunningRunner[] = Array.from({ length: RUNNERS }, () => system.startRunner());
  let [kills, images, toolCalls] = [0, 0, 0];

  async function killOne(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, random() * KILL_WITHIN_MS));
    const index = Math.floor(random() * runners.length);
    const killed = runners[index];
    killed?.child.kill('SIGKILL');
    await killed?.exited;
    runners[index] = system.startRunner();
    kills++;
  }

  const session = await system.begin(FIRST_MESSAGE);
  await system.answered(session, ANSWER_MS);
  for (let turn = 2; turn < turns; turn++) {
    const count = Math.floor(random() * 4);
    const bytes = random() < 0.25 ? 20_000 + Math.floor(random() * 40_000) : 1_000;
    const withImage = random() < 0.1;
    await system.send(session, readLogs(count, bytes), withImage);
    toolCalls += count;
    if (withImage) images++;
    const isKilled = random() * turnsPerKill < 1;
    await Promise.all([system.answered(session, ANSWER_MS), isKilled && killOne()]);
    if (turn % PROGRESS_TURNS === 0) print?.(`${turn} turns in a window of ${window}, ${kills} kills`);
  }
  await system.send(session, LAST_MESSAGE);
  await system.answered(session, ANSWER_MS);

  const dataOf = async (type: string) =>
    (await system.eventsOf(session, [type])).map(({ json }) => JSON.parse(json).data);
  const compacted = (await dataOf('agent.context_compacted')) as Compacted[];
  const answers = (await dataOf('agent.message')) as { content: { text?: string }[] }[];
  const cuts = compacted.filter(({ strategy }) => strategy !== 'drop_tool_results');
  return {
    ...settings,
    codeWord: answers.at(-1)?.content[0]?.text ?? '',
    kills,
    refusals: system.provider.refusals,
    compactions: countBy(compacted.map(({ strategy }) => strategy)),
    fallbacks: countBy(compacted.flatMap(({ fallback }) => fallback ?? [])),
    repeated: cuts.map(({ to_seq }) => to_seq).filter((seq, index, all) => all.indexOf(seq) < index),
    movedFiles: system.files.paths.size,
    ...{ images, toolCalls },
    failedTurns: (await dataOf('turn.failed')).length,
    broken: await brokenInvariants(server.url),
    seconds: Math.round((performance.now() - begunAt) / 1_000),
  };
}

/** Whether the conversation is as it must be. */
export function isRight({ codeWord, repeated, failedTurns, broken }: LongFigures): boolean {
  return codeWord === CODE_WORD && failedTurns + repeated.length + broken.length === 0;
}

interface Compacted {
  strategy: string;
  to_seq: number;
  fallback?: string;
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
