import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createApi } from '../support/api.ts';
import { freePort } from '../support/port.ts';
import { scratch } from '../support/scratch.ts';
import { until } from '../support/wait.ts';
import { startWebhookSenders } from '../support/webhook-senders.ts';
import { createRandomFollowers, type FollowerFigures } from './followers.ts';
import { embeddedUrl, isDrained, judge, type Verdict } from './oracle.ts';
import { startReady } from './program.ts';
import { seeded } from './random.ts';

interface CrashFigures extends Verdict, FollowerFigures {
  rounds: number;
  seed: number;
  /** Number of triggers answered with 200. */
  acknowledged: number;
  /** Sessions acknowledged to more than one sender. */
  repeated: number;
  /** Seconds from the last start until all turns have ended. */
  secondsToDrain: number;
}

const SENDERS = { count: 8, pauseMs: 0 };
const BODY = 'crash test';
/** Followers added per round, and the interval between them in milliseconds. */
const FOLLOWERS_PER_ROUND = 10;
const FOLLOW_INTERVAL_MS = 40;

/** Repeatedly kills the program with SIGKILL while webhooks arrive, then compares the acknowledgements with the database. */
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
  const followers = createRandomFollowers(api, seeded(seed + 1));
  let program = await startReady(env, api);
  try {
    const webhook = await api.createWebhook(await api.createAgent(AGENT));
    for (let round = 0; round < rounds; round++) {
      const senders = startWebhookSenders(api, webhook, BODY, SENDERS);
      const addingFollowers = setInterval(() => {
        const newest = senders.acknowledged.at(-1);
        if (newest && followers.size < (round + 1) * FOLLOWERS_PER_ROUND) followers.add(newest);
      }, FOLLOW_INTERVAL_MS);
      await new Promise((resolve) => setTimeout(resolve, 100 + random() * 900));
      program.kill('SIGKILL');
      clearInterval(addingFollowers);
      await program.exited;
      await senders.stop();
      acknowledged.push(...senders.acknowledged);
      program = await startReady(env, api);
    }
    const startedAt = performance.now();
    const databaseUrl = await embeddedUrl(dataDir);
    await until('all turns have ended', () => isDrained(databaseUrl), 120_000);
    const secondsToDrain = (performance.now() - startedAt) / 1_000;
    const repeated = acknowledged.length - new Set(acknowledged).size;
    const followed = await followers.verdict(databaseUrl);
    const verdict = await judge(databaseUrl, acknowledged, answerTo);
    return {
      rounds,
      seed,
      acknowledged: acknowledged.length,
      repeated,
      ...verdict,
      ...followed,
      secondsToDrain,
    };
  } finally {
    followers.stop();
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
