import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createClient } from '../../../lib/grpc/client.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import { localTransport } from '../../../lib/grpc/local.ts';
import { serveGrpc } from '../../../lib/grpc/server.ts';
import { type AgentRuntime, AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { type Event, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { openSessions } from '../../../services/sessions/service.ts';
import { createFakeAgents } from '../../services/runner/fake-agents.ts';
import { createContext } from '../../support/context.ts';
import { FakeAuth } from '../../support/fake-auth.ts';
import {
  openStrictProvider,
  type StrictOptions,
  type StrictProvider,
} from '../../support/providers/strict-provider.ts';
import { createLongFiles, type LongFiles } from './files.ts';
import type { LongRunnerConfig, RunnerMessage } from './runner.ts';

const OWNER = { userId: 'usr_1', roles: ['administrator'] };
const AGENT = 'agt_1';
const PROGRAM = fileURLToPath(new URL('runner.ts', import.meta.url));
const POLL_MS = 4;

interface LongSystemOptions {
  databaseUrl: string;
  provider: StrictOptions;
  leaseSeconds: number;
  /** Called with each message of a runner process. */
  told?(message: RunnerMessage): void;
}

/** `sessions` and a strict provider in this process, and runners in processes of their own. */
export interface LongSystem extends AsyncDisposable {
  provider: StrictProvider;
  files: LongFiles;
  /** Adds a version of the agent. Returns its number. */
  addAgent(runtime: Partial<AgentRuntime>): void;
  /** Creates a session with the newest version of the agent and a first message. Returns its id. */
  begin(text: string): Promise<string>;
  send(sessionId: string, text: string, withImage?: boolean): Promise<void>;
  /** Waits until the session is idle. Rejects when its turn has not ended with an answer. */
  answered(sessionId: string, timeoutMs?: number): Promise<void>;
  eventsOf(sessionId: string, types: string[]): Promise<Event[]>;
  startRunner(config?: Pick<LongRunnerConfig, 'point'>, execArgv?: string[]): RunningRunner;
}

export interface RunningRunner {
  child: ChildProcess;
  /** Exit code and signal. */
  exited: Promise<[number | null, NodeJS.Signals | null]>;
}

export async function openLongSystem(options: LongSystemOptions): Promise<LongSystem> {
  await using opened = new AsyncDisposableStack();
  const provider = opened.use(await openStrictProvider(options.provider));
  const context = createContext(options.databaseUrl);
  const fakeAgents = createFakeAgents(context);
  const files = createLongFiles(context);
  const shared = { secret: context.serviceSecret, clock: context.clock };
  let version = 0;
  const agents = {
    ...createClient({
      ...{ ...shared, contract: AgentsServiceDefinition, self: 'sessions' },
      transport: localTransport(fakeAgents.endpoint),
    }),
    resolveAgent: async () => ({ agentId: AGENT, version }),
    resolveOverrides: async () => ({ overridesJson: '' }),
  };
  const settings = {
    ...{ pool: 8, leaseSeconds: options.leaseSeconds, approvalTtlSeconds: 3_600, maxFailures: 5 },
    ...{ maxTurnsPerAgent: 1_000, quotaTurnsPerDay: 0, purgeAfterSeconds: 3_600 },
  };
  const neighbours = { agents, files: files.ofSessions, auth: new FakeAuth() };
  const sessions = await openSessions(context, settings, neighbours);
  opened.defer(() => sessions.stop());
  const endpoints = [sessions.endpoint, fakeAgents.endpoint, files.endpoint];
  const server = await serveGrpc('127.0.0.1:0', endpoints);
  opened.defer(() => server.stop(100));
  const edge: Client<SessionsServiceDefinition> = createClient({
    ...{ ...shared, contract: SessionsServiceDefinition, self: 'edge' },
    transport: localTransport(sessions.endpoint),
  });
  const addresses = { address: `127.0.0.1:${server.port}`, providerUrl: provider.url };
  const running = new Set<ChildProcess>();
  opened.defer(async () => {
    for (const child of running) child.kill('SIGKILL');
    await Promise.all([...running].map((child) => once(child, 'exit')));
  });
  const stack = opened.move();
  const caller = OWNER;
  const contentOf = (text: string, withImage: boolean) =>
    JSON.stringify([{ type: 'text', text }, ...(withImage ? [files.imagePart] : [])]);
  const attachments = { attachments: [files.attachment] };

  return {
    provider,
    files,
    addAgent(runtime) {
      version = fakeAgents.add(runtime);
    },
    async begin(text) {
      const contentJson = contentOf(text, false);
      const request = { agentId: AGENT, contentJson, title: '', metadata: {}, idempotencyKey: '' };
      const { session } = await edge.createConversation(request, { caller });
      return session?.sessionId ?? '';
    },
    async send(sessionId, text, withImage = false) {
      const contentJson = contentOf(text, withImage);
      const request = { sessionId, contentJson, busyPolicy: 'enqueue', idempotencyKey: '' };
      await edge.sendMessage(withImage ? { ...request, attachments } : request, { caller });
    },
    async answered(sessionId, timeoutMs = 60_000) {
      for (const until = performance.now() + timeoutMs; performance.now() < until; ) {
        const { session } = await edge.getSession({ sessionId }, { caller });
        if (session?.status === 'idle' && session.queuedTurns === 0) {
          if (session.state === 'completed') return;
          throw new Error(`a turn of ${sessionId} has ended with ${session.stopReasonJson}`);
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      throw new Error(`a turn of ${sessionId} has not ended within ${timeoutMs} ms`);
    },
    async eventsOf(sessionId, types) {
      const events: Event[] = [];
      for (let cursor = ''; ; ) {
        const request = { sessionId, page: { limit: 100, cursor }, afterSeq: 0, types };
        const page = await edge.listEvents(request, { caller });
        events.push(...page.events);
        cursor = page.page?.nextCursor ?? '';
        if (cursor === '') return events;
      }
    },
    startRunner(config = {}, execArgv = []) {
      const argument = JSON.stringify({ ...addresses, ...config });
      const child = fork(PROGRAM, [argument], { execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      running.add(child);
      child.on('message', (message: RunnerMessage | { answer: unknown }) => {
        if ('claimedAt' in message) options.told?.(message);
      });
      const exited = once(child, 'exit') as RunningRunner['exited'];
      void exited.then(() => running.delete(child));
      return { child, exited };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
