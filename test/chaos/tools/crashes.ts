import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createClient } from '../../../lib/grpc/client.ts';
import { localTransport } from '../../../lib/grpc/local.ts';
import { serveGrpc } from '../../../lib/grpc/network.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openSessions } from '../../../services/sessions/service.ts';
import { createAgentBook } from '../../services/runner/agents.ts';
import { createContext } from '../../support/context.ts';
import { countOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { seeded } from '../random.ts';
import { RUNTIMES } from './agents.ts';
import { startCounter } from './counter.ts';
import { POINTS } from './points.ts';
import type { RunnerOrders } from './runner.ts';
import { judge, type Verdict } from './verdict.ts';

export interface ToolCrashFigures extends Verdict {
  crashes: number;
  seed: number;
  /** How often a runner died where. */
  points: Record<string, number>;
  /** Decisions that were made, by what they say. */
  decisions: Record<string, number>;
  /** From the last crash until nothing was left to do. */
  secondsToDrain: number;
}

const RUNNERS = 3;
/** Sessions that are under way at any time: more than the dying runners can hold. */
const SESSIONS = 24;
const LEASE_SECONDS = 0.6;
/** A runner that does not come to its point within this time dies where it is. */
const PATIENCE_MS = 4_000;
const OWNER = { userId: 'usr_1', roles: ['administrator'] };
const PROGRAM = fileURLToPath(new URL('runner.ts', import.meta.url));
const SETTINGS = {
  pool: 8,
  leaseSeconds: LEASE_SECONDS,
  approvalTtlSeconds: 3_600,
  maxFailures: 5,
  maxTurnsPerAgent: 1_000,
  purgeAfterSeconds: 3_600,
};

/**
 * Kills runners with -9 at the edges of tool calls, again and again, while people decide at random what they are
 * asked; then lets everything come to its end and compares what the tools have counted with the journals.
 */
export async function toolCrashes(
  databaseUrl: string,
  crashes: number,
  seed: number,
): Promise<ToolCrashFigures> {
  await using opened = new AsyncDisposableStack();
  const random = seeded(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const counter = opened.use(await startCounter());
  const context = createContext(databaseUrl);
  const book = createAgentBook(context);
  for (const runtime of RUNTIMES) book.add(runtime);
  const shared = { secret: context.serviceSecret, clock: context.clock };
  const agents = createClient({
    ...shared,
    contract: AgentsServiceDefinition,
    self: 'sessions',
    transport: localTransport(book.endpoint),
  });
  const sessions = await openSessions(context, SETTINGS, { agents });
  opened.defer(() => sessions.stop());
  const server = await serveGrpc('127.0.0.1:0', [sessions.endpoint, book.endpoint]);
  opened.defer(() => server.stop(100));
  const clientOf = (self: string) =>
    createClient({
      ...shared,
      contract: SessionsServiceDefinition,
      self,
      transport: localTransport(sessions.endpoint),
    });
  const deployments = clientOf('deployments');
  const edge = clientOf('edge');
  const address = `127.0.0.1:${server.port}`;
  const points: Record<string, number> = {};
  const decisions: Record<string, number> = {};
  let dead = 0;
  let made = 0;

  async function begin(): Promise<void> {
    const agentVersion = 1 + (made % RUNTIMES.length);
    made++;
    await deployments.createSession({
      invocationId: context.ids('inv'),
      deploymentId: 'dep_1',
      agentId: 'agt_1',
      agentVersion,
      ownerId: OWNER.userId,
      text: `session-${made}`,
      bodyBytes: 0,
      sourceAddress: '',
    });
  }

  const unfinished = () =>
    countOn(databaseUrl, 'select count(*) from sessions.turns where finished_at is null');

  /** Answers everything that is asked at the moment. */
  async function decideAll(): Promise<void> {
    const page = { limit: 100, cursor: '' };
    const asked = { agentId: '', deploymentId: '', status: '', q: '', needsAction: true, page };
    const waiting = await edge.listSessions(asked, { caller: OWNER });
    for (const { sessionId } of waiting.sessions) {
      const { approvals } = await edge.listApprovals(
        { sessionId, status: 'pending', page },
        { caller: OWNER },
      );
      for (const { approvalId, kind } of approvals) {
        const decision =
          kind === 'tool' ? pick(['allow', 'allow', 'deny']) : pick(['retry', 'mark_done', 'mark_failed']);
        decisions[decision] = (decisions[decision] ?? 0) + 1;
        const said = { sessionId, approvalId, decision, reason: '', editedInputJson: '' };
        await edge.decideApproval(said, { caller: OWNER });
      }
    }
  }

  /** Runs a runner until it is dead. Without a point it lives until it is told to stop. */
  function run(orders: Partial<RunnerOrders>) {
    const told = JSON.stringify({ address, counter: counter.url, times: 1, ...orders });
    const child = spawn(process.execPath, [PROGRAM, told], { stdio: ['ignore', 'ignore', 'pipe'] });
    let complaints = '';
    child.stderr.on('data', (chunk) => (complaints += chunk));
    const exited = once(child, 'close') as Promise<[number | null, string | null]>;
    return { child, exited, complaints: () => complaints };
  }

  async function dyingRunners(): Promise<void> {
    while (dead < crashes) {
      const point = pick(POINTS);
      const { child, exited, complaints } = run({ point, times: 1 + Math.floor(random() * 3) });
      let where: string = point;
      const timer = setTimeout(() => {
        where = 'elsewhere';
        child.kill('SIGKILL');
      }, PATIENCE_MS);
      const [code, signal] = await exited;
      clearTimeout(timer);
      if (signal !== 'SIGKILL') throw new Error(`a runner ended by itself with ${code}: ${complaints()}`);
      points[where] = (points[where] ?? 0) + 1;
      dead++;
    }
  }

  let over = false;
  async function users(): Promise<void> {
    while (!over) {
      await decideAll();
      if (dead < crashes) for (let free = SESSIONS - (await unfinished()); free > 0; free--) await begin();
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  const people = users();
  // Heard here and awaited below: whoever fails first is who is reported.
  people.catch(() => {});
  await Promise.all(Array.from({ length: RUNNERS }, dyingRunners));
  const since = performance.now();
  const last = run({});
  try {
    await until('everything has come to its end', async () => (await unfinished()) === 0, 60_000);
  } finally {
    over = true;
    last.child.kill('SIGKILL');
    await last.exited;
  }
  await people;
  const secondsToDrain = Math.round((performance.now() - since) / 100) / 10;
  const verdict = await judge(databaseUrl, counter.calls);
  return { crashes: dead, seed, points, decisions, secondsToDrain, ...verdict };
}
