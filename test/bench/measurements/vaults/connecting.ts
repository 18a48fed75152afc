import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { type Api, createApi, dataOfCreated } from '../../../support/api.ts';
import { until } from '../../../support/wait.ts';
import { type Bench, type Spread, spreadOf } from '../../bench.ts';
import {
  addProtectedServer,
  type ProtectedServer,
  startProtectedServer,
} from '../../fixtures/protected-server.ts';
import type { BenchDatabase } from '../../subjects/postgres.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

/** Times from the redirect that finishes a connection until the server received the calls that waited for it. */
export interface Connecting {
  /** One waiting session. */
  one: Spread;
  /** A message to a new session of the connected user, until the server received its call. */
  bareOne: Spread;
  sessions: number;
  /** Until the last call of the waiting sessions. */
  allMs: number;
  /** As many messages at once to new sessions of the connected user, until the last call. */
  bareAllMs: number;
}

const TIMES = 10;
const SESSIONS = 200;
const LIMIT_MS = 120_000;

interface System {
  api: Api;
  database: BenchDatabase;
  server: ProtectedServer;
  mcpServerId: string;
  agentId: string;
}

/** c': sessions that wait for an authorization until their user connects at a real authorization server. */
export async function measureConnecting(bench: Bench): Promise<Connecting> {
  await using database = await bench.postgres.createDatabase();
  await using server = await startProtectedServer();
  await using subject = await startSingleProcess(database.url, undefined, {
    SERVICE_OUTBOUND_PRIVATE_HOSTS: server.privateHosts,
  });
  const api = createApi(subject.origin);
  const system = { api, database, server, ...(await addProtectedServer(api, server)) };
  const [one, bareOne]: [number[], number[]] = [[], []];
  for (let time = -1; time < Math.max(2, TIMES * bench.scale); time++) {
    const times = await measureSessions(system, 1);
    if (time < 0) continue;
    one.push(times.waitingMs);
    bareOne.push(times.bareMs);
  }
  const sessions = Math.max(20, Math.ceil(SESSIONS * bench.scale));
  const { waitingMs: allMs, bareMs: bareAllMs } = await measureSessions(system, sessions);
  const spread = spreadOf(one);
  const bare = spreadOf(bareOne);
  bench.print(
    "c'",
    `connecting → call: ${spread.p50Ms.toFixed(0)} ms (of a new turn ${bare.p50Ms.toFixed(0)} ms), ${sessions} waiting sessions ` +
      `${allMs.toFixed(0)} ms (of as many new turns ${bareAllMs.toFixed(0)} ms)`,
  );
  return { one: spread, bareOne: bare, sessions, allMs, bareAllMs };
}

/** Measures sessions that wait, and then as many of the connected user. Ends without a connection. */
async function measureSessions(system: System, sessions: number) {
  const { api, server, mcpServerId } = system;
  await startSessions(system, sessions);
  await waitForCount(system, 'turns wait for a connection', sessions, BLOCKED);
  const answer = await consent(system);
  const waitingMs = await measureCalls(system, sessions, () => finish(api, answer));
  const bareMs = await measureCalls(system, sessions, () => startSessions(system, sessions));
  await disconnect(api, mcpServerId);
  server.calls.length = 0;
  return { waitingMs, bareMs };
}

/** Returns the time from the start of `work` to the last of the calls. Fails if a session calls twice, or not at all. */
async function measureCalls(system: System, calls: number, work: () => Promise<void>): Promise<number> {
  const { server } = system;
  server.calls.length = 0;
  const startedAt = performance.now();
  await work();
  await waitForCount(system, 'turns have ended', 0, UNFINISHED);
  if (server.calls.length !== calls)
    throw new Error(`${calls} sessions made ${server.calls.length} calls to the MCP server`);
  return Math.max(...server.calls) - startedAt;
}

const BLOCKED = `select count(*)::int from sessions.approvals where kind = 'authorization' and status = 'pending'`;
const UNFINISHED = `select count(*)::int from sessions.turns where status <> 'completed'`;

async function waitForCount(
  { database }: System,
  what: string,
  expected: number,
  sql: string,
): Promise<void> {
  await until(`${expected} ${what}`, async () => (await database.queryRow(sql))[0] === expected, LIMIT_MS);
}

async function startSessions({ api, agentId }: System, count: number): Promise<void> {
  const path = `/agents/${agentId}/conversations`;
  await Promise.all(
    Array.from({ length: count }, async () => dataOfCreated(await api.post(path, { message: 'Go' }))),
  );
}

/** Returns the query of the redirect and the cookie of the browser. */
async function consent({ api, server, mcpServerId }: System) {
  const begun = await api.post('/auth/connections', { mcp_server_id: mcpServerId, return_to: '/' });
  const [cookie = ''] = begun.headers.getSetCookie().map((line) => line.split(';')[0]);
  const query = await server.issuer.authorize(String(dataOfCreated(begun).authorization_url), 'ada');
  return { query, cookie };
}

/** Follows the redirect of the authorization server as a browser does. `fetch` would replace these headers. */
async function finish({ origin }: Api, { query, cookie }: { query: string; cookie: string }): Promise<void> {
  const navigation = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };
  const request = get(`${origin}/api/v1/auth/connections/callback?${query}`, {
    headers: { ...navigation, cookie },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  if (response.statusCode !== 302) throw new Error(`the callback was answered with ${response.statusCode}`);
}

async function disconnect(api: Api, mcpServerId: string): Promise<void> {
  const { body } = await api.get('/auth/connections');
  const { connections } = body.data as unknown as {
    connections: { connection_id: string; mcp_server_id: string }[];
  };
  const connection = connections.find((one) => one.mcp_server_id === mcpServerId);
  const { status } = await api.send('DELETE', `/auth/connections/${connection?.connection_id}`);
  if (status !== 200) throw new Error(`the end of the connection was answered with ${status}`);
}
