import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createApi, dataOfCreated } from '../../support/api.ts';
import { createChannelClient } from '../../support/channel-client.ts';
import { channelTurns } from '../../support/channel-turns.ts';
import { freePort } from '../../support/port.ts';
import { scratch } from '../../support/scratch.ts';
import { countOn, rowsOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { embeddedUrl } from '../oracle.ts';
import { startReady } from '../program.ts';
import { seeded } from '../random.ts';
import { createSenders } from './senders.ts';
import { type ChannelVerdict, judgeTurns, pullAll } from './verdict.ts';

export interface ChannelRoundOptions {
  /** Messages of the sender that floods its conversation, and of all other senders together. */
  messages: number;
  /** How often the program is killed meanwhile. */
  kills: number;
  seed: number;
}

interface ChannelFigures extends ChannelVerdict {
  seed: number;
  messages: number;
  requests: number;
  kills: number;
  /** Responses that are neither a success nor a reason to send again. */
  wrong: string[];
  /** Turns of the flood that ended after the last turn of the sender that wrote meanwhile. */
  floodTurnsAfterOthers: number;
  seconds: number;
}

/** The flood has this share of all messages, from so many parallel requests. */
const FLOOD_SHARE = 0.4;
const PARALLEL = 16;
const SENDERS = 10;
/** The sender that begins in the middle of the flood. */
const LATE_MESSAGES = 5;
/** The leases of a killed program end after 30 seconds. */
const DRAIN_MS = 400_000;

/**
 * Sends messages to a channel of the provider http, with duplicates and in changing order. One sender floods its conversation,
 * and another one begins to write meanwhile. Each message must be one turn, in order within its conversation.
 */
export async function channelRounds({ messages, kills, seed }: ChannelRoundOptions): Promise<ChannelFigures> {
  const startedAt = performance.now();
  const dataDir = await mkdtemp(join(scratch(), 'ahs-channels-'));
  const port = await freePort();
  const env = { SERVICE_DATA_DIR: dataDir, SERVICE_PORT: String(port), SERVICE_LOG_LEVEL: 'warn' };
  const api = createApi(`http://127.0.0.1:${port}`);
  let program = await startReady(env, api);
  try {
    const channel = dataOfCreated(
      await api.post(`/admin/agents/${await api.createAgent()}/deployments`, {
        ...{ type: 'channel', provider: 'http', name: 'Flood', config: { access: { mode: 'anyone' } } },
      }),
    );
    const id = String(channel.deployment_id);
    const client = createChannelClient(api.origin, id, String(channel.shared_secret));
    const random = seeded(seed);
    const senders = createSenders(client, random);
    const flood = { conversation: 'flood', messages: Math.round(messages * FLOOD_SHARE), parallel: PARALLEL };
    const half = Promise.withResolvers<void>();
    const others = Math.round((messages - flood.messages - LATE_MESSAGES) / SENDERS);

    async function killAtRandom(): Promise<void> {
      for (let kill = 0; kill < kills; kill++) {
        await new Promise((resolve) => setTimeout(resolve, 1_000 + random() * 4_000));
        program.kill('SIGKILL');
        await program.exited;
        program = await startReady(env, api);
      }
    }
    await Promise.all([
      killAtRandom(),
      senders.send(flood, (count) => count >= flood.messages / 2 && half.resolve()),
      half.promise.then(() => senders.send({ conversation: 'late', messages: LATE_MESSAGES, parallel: 1 })),
      ...Array.from({ length: SENDERS }, (_, index) =>
        senders.send({ conversation: `room ${index}`, messages: others, parallel: 1 + (index % 2) }),
      ),
    ]);
    await senders.settled();
    const databaseUrl = await embeddedUrl(dataDir);
    await until('every message is handled and told', () => isDrained(databaseUrl), DRAIN_MS);
    const { sent, wrong, requests } = senders;
    return {
      ...{ seed, messages: sent.length, requests, kills, wrong },
      ...judgeTurns(sent, await channelTurns(databaseUrl, id), await pullAll(client)),
      floodTurnsAfterOthers: await floodTurnsAfterOthers(databaseUrl),
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } finally {
    program.kill('SIGTERM');
    await program.exited;
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function isDrained(databaseUrl: string): Promise<boolean> {
  const open = `
    select (select count(*) from deployments.deliveries where result = 'pending')
      + (select count(*) from deployments.conversations where is_engaged)
      + (select count(*) from sessions.turns where finished_at is null) as count`;
  return (await countOn(databaseUrl, open)) === 0;
}

async function floodTurnsAfterOthers(databaseUrl: string): Promise<number> {
  const [row] = await rowsOn<{ count: number }>(
    databaseUrl,
    `with turn as (
       select c.conversation, t.finished_at from sessions.turns t join deployments.conversations c using (session_id))
     select count(*)::integer as count from turn
     where conversation = 'flood' and finished_at > (select max(finished_at) from turn where conversation = 'late')`,
  );
  return row?.count ?? 0;
}
