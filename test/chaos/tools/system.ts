import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createClient } from '../../../lib/grpc/client.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import { localTransport } from '../../../lib/grpc/local.ts';
import { serveGrpc } from '../../../lib/grpc/server.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { type Approval, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openSessions } from '../../../services/sessions/service.ts';
import { createFakeAgents } from '../../services/runner/fake-agents.ts';
import { createContext } from '../../support/context.ts';
import { FakeAuth } from '../../support/fake-auth.ts';
import { fakeService } from '../../support/fake-service.ts';
import { countOn } from '../../support/sql.ts';
import { RUNTIMES } from './agents.ts';
import { type Counter, startCounter } from './counter.ts';
import type { RunnerConfig } from './runner.ts';

export const OWNER = { userId: 'usr_1', roles: ['administrator'] };
const PROGRAM = fileURLToPath(new URL('runner.ts', import.meta.url));
const PAGE = { limit: 100, cursor: '' };

/** `sessions` in this process, a counting server, and runners in processes of their own. */
interface ToolCrashSystem extends AsyncDisposable {
  counter: Counter;
  edge: Client<SessionsServiceDefinition>;
  /** Creates a session with one of RUNTIMES. Returns its id. */
  createSession(runtime: number, text: string): Promise<string>;
  /** Returns the number of turns that have not ended. */
  unfinished(): Promise<number>;
  /** Decides all pending approvals. */
  decideAll(choose: (approval: Approval) => string): Promise<void>;
  startRunner(config: Partial<RunnerConfig>): RunningRunner;
}

interface RunningRunner {
  child: ChildProcess;
  /** Exit code and signal. */
  exited: Promise<[number | null, string | null]>;
  errorOutput(): string;
}

export async function openToolCrashSystem(
  databaseUrl: string,
  leaseSeconds: number,
): Promise<ToolCrashSystem> {
  await using opened = new AsyncDisposableStack();
  const counter = opened.use(await startCounter());
  const context = createContext(databaseUrl);
  const agentBook = createFakeAgents(context);
  for (const runtime of RUNTIMES) agentBook.add(runtime);
  const shared = { secret: context.serviceSecret, clock: context.clock };
  const agents = createClient({
    ...shared,
    contract: AgentsServiceDefinition,
    self: 'sessions',
    transport: localTransport(agentBook.endpoint),
  });
  const files = fakeService(FilesServiceDefinition, {}, 'sessions', context);
  const settings = {
    pool: 8,
    leaseSeconds,
    approvalTtlSeconds: 3_600,
    maxFailures: 5,
    maxTurnsPerAgent: 1_000,
    quotaTurnsPerDay: 0,
    purgeAfterSeconds: 3_600,
  };
  const sessions = await openSessions(context, settings, { agents, files, auth: new FakeAuth() });
  opened.defer(() => sessions.stop());
  const server = await serveGrpc('127.0.0.1:0', [sessions.endpoint, agentBook.endpoint]);
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
  const addresses = { address: `127.0.0.1:${server.port}`, counter: counter.url };
  const running = new Set<ChildProcess>();
  opened.defer(async () => {
    for (const child of running) child.kill('SIGKILL');
    await Promise.all([...running].map((child) => once(child, 'close')));
  });
  const stack = opened.move();

  return {
    counter,
    edge,
    async createSession(runtime, text) {
      const { sessionId } = await deployments.createSession({
        invocationId: context.ids('inv'),
        deploymentId: 'dep_1',
        agentId: 'agt_1',
        agentVersion: runtime + 1,
        ownerId: OWNER.userId,
        text,
        bodyBytes: 0,
        sourceAddress: '',
      });
      return sessionId;
    },
    unfinished: () => countOn(databaseUrl, 'select count(*) from sessions.turns where finished_at is null'),
    async decideAll(choose) {
      const caller = OWNER;
      const request = {
        agentId: '',
        deploymentId: '',
        states: [],
        status: '',
        q: '',
        needsAction: true,
        page: PAGE,
      };
      const waiting = await edge.listSessions(request, { caller });
      for (const { sessionId } of waiting.sessions) {
        const pending = { sessionId, status: 'pending', page: PAGE };
        const { approvals } = await edge.listApprovals(pending, { caller });
        for (const approval of approvals) {
          const { approvalId } = approval;
          const decision = choose(approval);
          const request = { sessionId, approvalId, decision, reason: '', editedInputJson: '' };
          await edge.decideApproval(request, { caller });
        }
      }
    },
    startRunner(config) {
      const argument = JSON.stringify({ ...addresses, times: 1, ...config });
      const child = spawn(process.execPath, [PROGRAM, argument], { stdio: ['ignore', 'ignore', 'pipe'] });
      running.add(child);
      let errorOutput = '';
      child.stderr.on('data', (chunk) => (errorOutput += chunk));
      const exited = once(child, 'close') as Promise<[number | null, string | null]>;
      void exited.then(() => running.delete(child));
      return { child, exited, errorOutput: () => errorOutput };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
