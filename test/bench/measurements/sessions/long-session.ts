import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { answerOf, FIRST_MESSAGE, readLogs } from '../../../chaos/long/conversation.ts';
import type { RunnerMessage } from '../../../chaos/long/runner.ts';
import { type LongSystem, openLongSystem, type RunningRunner } from '../../../chaos/long/system.ts';
import { compatible } from '../../../support/providers/compatible.ts';
import type { StrictRequest } from '../../../support/providers/strict-provider.ts';
import { type Bench, percentile } from '../../bench.ts';
import type { Footprint } from '../../subjects/probe.ts';

/** A turn of a young and of a long session. */
export interface SessionAge {
  turns: number;
  /** Median milliseconds from the claim of a turn to the arrival of its first model request. */
  claimToRequestMs: number;
  /** Median events and bytes of the history that the runner has loaded for a turn. */
  events: number;
  bytes: number;
  /** Median tokens of the first request, as the provider counts them. */
  tokens: number;
}

export interface LongSession {
  window: number;
  young: SessionAge;
  long: SessionAge;
  /** All messages, tool results and their bytes in the journal of the long session. */
  journal: { events: number; bytes: number };
  compactions: number;
  /** Growth of the runner's memory from the beginning of the long session to its end, in bytes. */
  grown: { heap: number; lasting: number };
}

const TURNS = 2_000;
const YOUNG_TURNS = 10;
const WINDOW = 32_000;
/** Turns before the memory is measured, so that code is loaded and compiled. */
const WARM_UP_TURNS = 300;
const MIN_WARM_UP_TURNS = 60;
/** Pairs of turns, of a young and of the long session in turn, so that both see the same machine. */
const PAIRS = 40;
const PROBE = fileURLToPath(new URL('../../subjects/probe.ts', import.meta.url));
const ANSWER_MS = 60_000;

/** g': a session of many turns with tool results and compactions, beside sessions of ten turns. */
export async function measureLongSession({ postgres, scale, print }: Bench): Promise<LongSession> {
  const turns = Math.max(100, Math.ceil(TURNS * scale));
  const warmUpTurns = Math.max(MIN_WARM_UP_TURNS, Math.ceil(WARM_UP_TURNS * scale));
  const pairs = Math.max(5, Math.ceil(PAIRS * scale));
  await using database = await postgres.createDatabase();
  const turn = new TurnMeter();
  await using system = await openLongSystem({
    databaseUrl: database.url,
    leaseSeconds: 15,
    provider: {
      ...{ window: WINDOW, answer: answerOf, retained: 1 },
      arrived: (request) => turn.requested(request),
    },
    told: (message) => turn.claimed(message),
  });
  const settings = { modelOptionsJson: '{"max_output_tokens":1000}', context: { window: WINDOW } };
  system.addAgent({ model: compatible.model, system: 'You read logs.', maxSteps: 30, ...settings });
  const runner = system.startRunner({}, ['--import', PROBE]);
  await runTurns(system, await system.begin(FIRST_MESSAGE), warmUpTurns);

  const before = await footprintOf(runner);
  const session = await system.begin(FIRST_MESSAGE);
  await runTurns(system, session, turns);
  const after = await footprintOf(runner);
  const measured: { young: Measured[]; long: Measured[] } = { young: [], long: [] };
  for (let pair = 0; pair < pairs; pair++) {
    const young = await system.begin(FIRST_MESSAGE);
    await runTurns(system, young, YOUNG_TURNS - 1);
    for (const [id, found] of [[young, measured.young] as const, [session, measured.long] as const]) {
      turn.begin();
      await runTurn(system, id, 1);
      found.push(turn.end());
    }
  }
  const history = await system.eventsOf(session, ['user.message', 'agent.message', 'agent.tool_result']);
  const result: LongSession = {
    window: WINDOW,
    young: ageOf(YOUNG_TURNS, measured.young),
    long: ageOf(turns, measured.long),
    journal: {
      events: history.length,
      bytes: history.reduce((sum, { json }) => sum + json.length, 0),
    },
    compactions: (await system.eventsOf(session, ['agent.context_compacted'])).length,
    grown: { heap: after.heap - before.heap, lasting: after.lasting - before.lasting },
  };
  print("g'", `${turns} turns with ${result.compactions} compactions in a window of ${WINDOW} tokens`);
  return result;
}

/** Every turn has a result of 1.5 KB, every tenth one of 12 KB, and every fifteenth an image. */
async function runTurns(system: LongSystem, sessionId: string, turns: number): Promise<void> {
  await system.answered(sessionId);
  for (let turn = 2; turn <= turns; turn++) await runTurn(system, sessionId, turn);
}

async function runTurn(system: LongSystem, sessionId: string, turn: number): Promise<void> {
  await system.send(sessionId, readLogs(1, turn % 10 === 0 ? 12_000 : 1_500), turn % 15 === 0);
  await system.answered(sessionId);
}

interface Measured extends Omit<RunnerMessage, 'claimedAt'> {
  claimToRequestMs: number;
  tokens: number;
}

/** Measures one turn at a time from the messages of its runner and the requests at the provider. */
class TurnMeter {
  #claim: RunnerMessage | undefined;
  #measured: Measured | undefined;

  begin(): void {
    this.#claim = undefined;
    this.#measured = undefined;
  }

  claimed(message: RunnerMessage): void {
    this.#claim ??= message;
  }

  requested({ tokens, arrivedAt, isSummary }: StrictRequest): void {
    const { claimedAt, events = 0, bytes = 0 } = this.#claim ?? {};
    if (claimedAt === undefined || isSummary) return;
    this.#measured ??= { claimToRequestMs: arrivedAt - claimedAt, events, bytes, tokens };
  }

  end(): Measured {
    if (!this.#measured) throw new Error('the runner has not told of a claim');
    return this.#measured;
  }
}

function ageOf(turns: number, measured: readonly Measured[]): SessionAge {
  const median = (of: (one: Measured) => number) => percentile(measured.map(of), 0.5);
  return {
    turns,
    claimToRequestMs: median((one) => one.claimToRequestMs),
    events: median((one) => one.events),
    bytes: median((one) => one.bytes),
    tokens: median((one) => one.tokens),
  };
}

async function footprintOf({ child }: RunningRunner): Promise<Footprint> {
  child.send('footprint');
  for (const signal = AbortSignal.timeout(ANSWER_MS); ; ) {
    const [message] = (await once(child, 'message', { signal })) as [{ answer?: Footprint }];
    if (message.answer) return message.answer;
  }
}
