import { type Api, createApi, dataOfCreated } from '../../../support/api.ts';
import { createChannelClient } from '../../../support/channel-client.ts';
import { startTelegram, type Telegram } from '../../../support/products/telegram/server.ts';
import { until } from '../../../support/wait.ts';
import { type Bench, pause } from '../../bench.ts';
import type { BenchDatabase } from '../../subjects/postgres.ts';
import type { Footprint } from '../../subjects/probe.ts';
import type { Subject } from '../../subjects/subject.ts';
import { ACCEPTING, startSeparateProcesses } from '../../subjects/subjects.ts';
import { inKib } from '../sessions/idle.ts';

export interface WorkerMemory {
  connections: number;
  /** Resident memory of a channel worker without a channel, in bytes. */
  unconnected: number;
  /** The same with idle connections and no conversation. */
  connected: number;
  conversations: number;
  /** Growth per engaged conversation. */
  conversation: Footprint;
}

/** A channel worker of its own with what the measurement needs. */
interface WorkerSystem {
  bench: Bench;
  database: BenchDatabase;
  subject: Subject;
  api: Api;
  /** The path of the deployments of the agent. */
  deployments: string;
}

const LETTER = "t'";
const CONNECTIONS = 200;
const CONVERSATIONS = 1_000;
const MIN_CONVERSATIONS = 100;
/** At most 200 conversations of a channel are held at the same time. */
const CONVERSATIONS_OF_CHANNEL = 200;
/** Share of conversations before the first measurement, which excludes one-time allocations. */
const FIRST_SHARE = 0.2;
const SENDERS = 8;
const SETTLE_MS = 500;
const LIMIT_MS = 120_000;

/** t': the memory of the process of a channel worker, first with idle connections only, then with engaged conversations, too. */
export async function measureWorkerMemory(bench: Bench): Promise<WorkerMemory> {
  await using telegram = await startTelegram();
  await using database = await bench.postgres.createDatabase();
  // Without a runner, the turns stay queued, and so the conversations stay engaged.
  await using subject = await startSeparateProcesses(database.url, {
    targets: ['channels', ...ACCEPTING],
    settings: { SERVICE_CHANNELS_API_URLS: `telegram=${telegram.apiUrl}` },
  });
  const api = createApi(subject.origin);
  const deployments = `/admin/agents/${await api.createAgent()}/deployments`;
  const system = { bench, database, subject, api, deployments };
  return await Promise.race([
    subject.failed,
    (async () => ({
      ...(await measureConnections(system, telegram)),
      ...(await measureConversations(system)),
    }))(),
  ]);
}

async function measureConnections(system: WorkerSystem, telegram: Telegram) {
  const { bench, database, subject, api, deployments } = system;
  const connections = Math.ceil(CONNECTIONS * bench.scale);
  const { resident: unconnected } = await subject.footprint();
  for (let index = 0; index < connections; index++) {
    const created = await api.post(deployments, {
      ...{ type: 'channel', provider: 'telegram', name: `Bot ${index}`, config: { mode: 'polling' } },
      credentials: { bot_token: telegram.createBot().token },
    });
    dataOfCreated(created);
  }
  const states = `select count(*) from deployments.connections where state = 'connected'`;
  await reached(database, states, connections);
  await pause(SETTLE_MS);
  const { resident: connected } = await subject.footprint();
  bench.print(
    LETTER,
    `a channel worker with ${connections} idle connections: ${inMib(connected)}, before them ${inMib(unconnected)}`,
  );
  return { connections, unconnected, connected };
}

async function measureConversations({ bench, database, subject, api, deployments }: WorkerSystem) {
  const conversations = Math.max(MIN_CONVERSATIONS, Math.ceil(CONVERSATIONS * bench.scale));
  const clients: ReturnType<typeof createChannelClient>[] = [];
  while (clients.length * CONVERSATIONS_OF_CHANNEL < conversations) {
    const created = await api.post(deployments, {
      ...{ type: 'channel', provider: 'http', name: 'Rooms', config: { access: { mode: 'anyone' } } },
    });
    const { deployment_id: id, shared_secret: secret } = dataOfCreated(created);
    clients.push(createChannelClient(subject.origin, String(id), String(secret)));
  }
  const held = `select count(*) from deployments.conversations where is_engaged and lease_until > now()`;
  let sent = 0;
  const engage = async (count: number) => {
    const send = async () => {
      while (sent < count) {
        const room = `room ${++sent}`;
        const response = await clients[sent % clients.length]?.sendMessage(room, room, 'Hello');
        if (response?.status !== 202) throw new Error(`a message was answered with ${response?.status}`);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
    await reached(database, held, count);
    await pause(SETTLE_MS);
    const footprint = await subject.footprint();
    await reached(database, held, count, 0);
    return footprint;
  };
  const firsts = Math.ceil(conversations * FIRST_SHARE);
  const before = await engage(firsts);
  const after = await engage(conversations);
  const share = (of: keyof Footprint) => (after[of] - before[of]) / (conversations - firsts);
  const conversation = { heap: share('heap'), resident: share('resident'), lasting: share('lasting') };
  bench.print(
    LETTER,
    `${conversations} engaged conversations: ${inKib(conversation.heap)} of objects each; the process has grown by ` +
      `${inKib(conversation.lasting)} each, ${inKib(conversation.resident)} with the free memory of V8`,
  );
  return { conversations, conversation };
}

/** Waits until a query returns `count`. */
async function reached(
  database: BenchDatabase,
  query: string,
  count: number,
  limitMs = LIMIT_MS,
): Promise<void> {
  await until(
    `${count} rows: ${query}`,
    async () => ((await database.queryRow(query))[0] ?? 0) >= count,
    limitMs,
  );
}

export const inMib = (bytes: number) => `${(bytes / 1_024 / 1_024).toFixed(1)} MiB`;
