import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Api, createApi, dataOfCreated } from '../../../support/api.ts';
import { until } from '../../../support/wait.ts';
import { type Bench, pause } from '../../bench.ts';
import { mcpRequest, toolCall } from '../../fixtures/mcp-request.ts';
import { createMeter } from '../../subjects/meter.ts';
import type { Subject } from '../../subjects/subject.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';
import { send } from '../../workers/senders.ts';
import { describeLoad, jobFor } from '../webhooks/acceptance.ts';

/** The costs of `/mcp`. */
export interface McpServing {
  /** Requests per second: creating a conversation with a tool and with the REST API. */
  toolCalls: number;
  creations: number;
  /** The same for reading an agent, which costs a service less than anything else. */
  toolReads: number;
  reads: number;
  /** CPU of `tools/list` with 64 agents, in milliseconds. */
  listCpuMs: number;
  /**
   * Memory of a waiting call in bytes: the objects that it retains, or the growth of the process if that is more. Pages that
   * earlier measurements have left free hide a growth.
   */
  waitBytes: number;
  waits: number;
}

const PATH = '/api/v1/mcp';
const CONNECTIONS = 8;
const AGENTS = 64;
const LISTS = 200;
const WARM_UPS = 50;
const WAITS = 1_000;
/** Share of the calls that wait before the first measurement, which excludes one-time allocations. */
const FIRST_SHARE = 0.2;
const SETTLE_MS = 1_000;
/** A busy machine takes seconds to begin all waits. */
const WAITING_MS = 20_000;
const WAIT_SECONDS = 50;

/** u': calls of tools beside the same calls of the REST API, the list of tools, and calls that wait. */
export async function measureMcpServing(bench: Bench): Promise<McpServing> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const agent = await api.createAgent();
  const creation = toolCall('create_conversation', { agent_id: agent });
  const reading = toolCall('get_agent', { agent_id: agent });
  const restCreation = { body: '{}', headers: { 'Content-Type': 'application/json' } };
  const path = `/api/v1/agents/${agent}`;
  const rates = {
    creations: await rate(bench, subject, post(`${path}/conversations`, restCreation), 201),
    toolCalls: await rate(bench, subject, post(PATH, creation)),
    reads: await rate(bench, subject, { line: `GET ${path}`, body: '', headers: {} }),
    toolReads: await rate(bench, subject, post(PATH, reading)),
  };
  // Before there is another agent.
  const listCpuMs = await measureList(bench, subject, api);
  return { ...rates, listCpuMs, ...(await measureWaits(bench, subject, api)) };
}

interface PreparedRequest {
  /** Method and path. */
  line: string;
  headers: Record<string, string>;
  body: string;
}

const post = (path: string, request: Omit<PreparedRequest, 'line'>): PreparedRequest => ({
  line: `POST ${path}`,
  ...request,
});

function requestText({ origin }: Subject, { line, headers, body }: PreparedRequest): string {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const all = Object.entries({ Host: new URL(origin).host, ...headers, ...length });
  return `${line} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

async function rate(bench: Bench, subject: Subject, request: PreparedRequest, status = 200): Promise<number> {
  const meter = createMeter(bench, subject);
  const text = requestText(subject, request);
  const job = { ...jobFor(subject, text, bench.durationMs), status, connections: CONNECTIONS };
  const figures = await send(job, subject, meter.begin);
  const costs = await meter.end(figures.answers, 'request');
  bench.print("u'", `${request.headers['Mcp-Name'] ?? request.line}: ${describeLoad(figures)}\n${costs}`);
  return figures.perSecond;
}

async function measureList(bench: Bench, subject: Subject, api: Api): Promise<number> {
  for (let index = 1; index < AGENTS; index++)
    await api.createAgent({ name: `Agent ${index}`, description: 'Answers questions about the harbour.' });
  const { body, headers } = mcpRequest('tools/list');
  const list = async () => {
    const response = await fetch(subject.origin + PATH, { method: 'POST', body, headers });
    const text = await response.text();
    const asks = text.match(/"name":"ask_/g)?.length;
    if (asks !== AGENTS) throw new Error(`${asks} agents are listed: ${text.slice(0, 500)}`);
  };
  for (let time = 0; time < WARM_UPS; time++) await list();
  const meter = createMeter(bench, subject);
  const cpuMs = async () => (await subject.usage()).reduce((sum, { usage }) => sum + usage.cpuMs, 0);
  await meter.begin();
  const before = await cpuMs();
  for (let time = 0; time < LISTS; time++) await list();
  const listCpuMs = ((await cpuMs()) - before) / LISTS;
  bench.print("u'", `tools/list with ${AGENTS} agents\n${await meter.end(LISTS, 'list')}`);
  return listCpuMs;
}

async function waitingCalls({ origin }: Subject): Promise<number> {
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  return Number(/^ahs_protocol_waits\{protocol="mcp"\} (\d+)$/m.exec(metrics)?.[1]);
}

/** Calls that wait for one turn. Each has a connection of its own. */
async function measureWaits(bench: Bench, subject: Subject, api: Api) {
  const steps = [{ text: 'never', delay_ms: 3_600_000 }];
  const agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
  const begun = dataOfCreated(
    await api.post(`/agents/${agent}/conversations`, { message: 'Go', wait_seconds: 0 }),
  );
  const { turn_id: turnId } = begun.turn as unknown as { turn_id: string };
  const args = { session_id: begun.session_id, turn_id: turnId, wait_seconds: WAIT_SECONDS };
  const text = requestText(subject, post(PATH, toolCall('wait_for_turn', args)));
  const waits = Math.ceil(WAITS * bench.scale);
  const firsts = Math.ceil(waits * FIRST_SHARE);
  const sockets: Socket[] = [];
  const begin = async (count: number) => {
    const port = Number(new URL(subject.origin).port);
    const opened = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
    await Promise.all(opened.map((socket) => once(socket, 'connect')));
    for (const socket of opened) {
      socket.on('data', (bytes) => {
        throw new Error(`a call has not waited: ${bytes}`);
      });
      socket.write(text);
    }
    sockets.push(...opened);
    await until('the calls wait', async () => (await waitingCalls(subject)) === sockets.length, WAITING_MS);
    await pause(SETTLE_MS);
  };
  try {
    await begin(firsts);
    const before = await subject.footprint();
    await begin(waits - firsts);
    const after = await subject.footprint();
    const share = (of: 'heap' | 'lasting') => (after[of] - before[of]) / (waits - firsts);
    const kib = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`;
    bench.print(
      "u'",
      `${waits} waiting calls: ${kib(share('heap'))} of objects each; the process grew by ${kib(share('lasting'))} each`,
    );
    return { waitBytes: Math.max(share('heap'), share('lasting')), waits };
  } finally {
    for (const socket of sockets) socket.destroy();
    await api.post(`/sessions/${begun.session_id}/interrupt`);
  }
}
