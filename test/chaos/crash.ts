import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../lib/db/embedded/port.ts';
import { type Api, createApi } from '../support/api.ts';
import { type Program, runProgram } from '../support/program.ts';
import { scratch } from '../support/scratch.ts';
import { startSenders } from '../support/senders.ts';
import { until } from '../support/wait.ts';
import { type AudienceFigures, createAudience } from './audience.ts';
import { embeddedUrl, isDrained, judge, type Verdict } from './oracle.ts';
import { seeded } from './random.ts';

export interface CrashFigures extends Verdict, AudienceFigures {
  rounds: number;
  seed: number;
  /** Triggers that were answered with 200. */
  acknowledged: number;
  /** Sessions that were acknowledged to more than one sender. */
  repeated: number;
  /** From the last start until nothing was left to do. */
  secondsToDrain: number;
}

const SENDERS = { count: 8, pauseMs: 0 };
const BODY = 'crash test';
/** Followers that join in each round, and how long it takes until the next one comes. */
const GUESTS = 10;
const INVITE_MS = 40;

/** Kills the program with -9 while webhooks arrive, again and again, and then compares what was promised with what is there. */
export async function crashRounds(rounds: number, seed: number): Promise<CrashFigures> {
  const dataDir = await mkdtemp(join(scratch(), 'ahs-crash-'));
  const port = await freePort();
  const env = {
    SERVICE_DATA_DIR: dataDir,
    SERVICE_PORT: String(port),
    SERVICE_LOG_LEVEL: 'warn',
    SERVICE_TURN_LEASE_SECONDS: '2',
  };
  const api = createApi(`http://127.0.0.1:${port}`);
  const random = seeded(seed);
  const acknowledged: string[] = [];
  const audience = createAudience(api, seeded(seed + 1));
  let program = await start(env, api);
  try {
    const webhook = await api.createWebhook(await api.createAgent(AGENT));
    for (let round = 0; round < rounds; round++) {
      const senders = startSenders(api, webhook, BODY, SENDERS);
      const inviting = setInterval(() => {
        const newest = senders.acknowledged.at(-1);
        if (newest && audience.size < (round + 1) * GUESTS) audience.invite(newest);
      }, INVITE_MS);
      await new Promise((resolve) => setTimeout(resolve, 100 + random() * 900));
      program.kill('SIGKILL');
      clearInterval(inviting);
      await program.exited;
      await senders.stop();
      acknowledged.push(...senders.acknowledged);
      program = await start(env, api);
    }
    const startedAt = performance.now();
    const databaseUrl = await embeddedUrl(dataDir);
    await until('nothing is left to do', () => isDrained(databaseUrl), 120_000);
    const secondsToDrain = (performance.now() - startedAt) / 1_000;
    const repeated = acknowledged.length - new Set(acknowledged).size;
    const heard = await audience.verdict(databaseUrl);
    const verdict = await judge(databaseUrl, acknowledged, answerTo);
    return {
      rounds,
      seed,
      acknowledged: acknowledged.length,
      repeated,
      ...verdict,
      ...heard,
      secondsToDrain,
    };
  } finally {
    audience.leave();
    program.kill('SIGTERM');
    await program.exited;
    await rm(dataDir, { recursive: true, force: true });
  }
}

const answerTo = (input: string) => `one two three four ${input}`;
const AGENT = {
  model: 'rehearsal/script',
  model_options: { steps: [{ text: 'one two three four {{input}}', chunk_chars: 4, delay_ms: 15 }] },
};

async function start(env: Record<string, string>, api: Api): Promise<Program> {
  const program = runProgram(env);
  const isReady = async () => (await fetch(`${api.origin}/readyz`).catch(() => undefined))?.ok;
  try {
    await Promise.race([until('the program is ready', isReady, 30_000), hasEnded(program)]);
  } catch (error) {
    program.kill('SIGKILL');
    throw new Error(`the program did not start; it said:\n${program.output()}`, { cause: error });
  }
  return program;
}

async function hasEnded({ exited }: Program): Promise<never> {
  throw new Error(`it ended with ${await exited}`);
}
