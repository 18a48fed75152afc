import type { Module } from '../../../lib/modules.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import type { AgentRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ProviderSettings } from '../../../services/runner/config.ts';
import type { Providers } from '../../../services/runner/sandboxes/providers.ts';
import { openRunner } from '../../../services/runner/service.ts';
import type { Tool } from '../../../services/runner/tools/tool.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { passing, until } from '../../support/wait.ts';
import { type AgentBook, createAgentBook } from './agents.ts';
import { createFileBook, type FileBook } from './files.ts';
import { createTurnBook, type Journal, type QueuedTurn, type TurnBook } from './sessions.ts';

export interface RunnerUnderTest extends AsyncDisposable {
  runner: Module;
  book: TurnBook;
  agents: AgentBook;
  files: FileBook;
  clock: FakeClock;
  context: ServiceContext;
  /** Queues turns of an agent and says so. */
  ask(runtime: Partial<AgentRuntime>, ...turns: QueuedTurn[]): void;
  /** The journal of a turn that has its outcome, or so many of them. */
  ended(turnId: string, outcomes?: number): Promise<Journal>;
  /** Queues a turn once more, with what was decided about its calls, and says so. */
  again(turnId: string, decisions?: Parameters<TurnBook['again']>[1]): void;
  /** The runner is gone in an instant, and leaves behind what it has reported; another one takes its place. */
  crash(): Promise<void>;
  /** Moves the clock in small steps until the condition holds. */
  passTime(what: string, holds: () => boolean, stepMs?: number): Promise<void>;
}

export interface RunnerSettings {
  transport?: TransportName;
  slots?: number;
  leaseMs?: number;
  drainMs?: number;
  stepTimeoutSeconds?: number;
  /** Beside the built-in ones. */
  tools?: Tool[];
  tracer?: ServiceContext['tracer'];
  providers?: ProviderSettings;
  /** Of sandboxes; without any, there are no commands. */
  sandboxes?: (clock: FakeClock) => Providers;
  mostSandboxes?: number;
}

/** A runner with a clock that stands still, and the contracts it calls kept in memory. */
export async function open(settings: RunnerSettings = {}): Promise<RunnerUnderTest> {
  const { transport = 'in process', slots = 8, leaseMs = 15_000, drainMs = 1_000 } = settings;
  const stack = new AsyncDisposableStack();
  const clock = createFakeClock();
  const context = createContext('', { clock, ...(settings.tracer && { tracer: settings.tracer }) });
  context.log.level = 'silent';
  const book = createTurnBook(context, leaseMs);
  const agents = createAgentBook(context);
  const files = createFileBook(context);
  files.holds = ({ turnId, fence }) => book.holds(turnId, fence);
  const sessions = stack.use(await connect(SessionsServiceDefinition, book.endpoint, transport, context));
  const agentsClient = stack.use(await connect(AgentsServiceDefinition, agents.endpoint, transport, context));
  const filesClient = stack.use(await connect(FilesServiceDefinition, files.endpoint, transport, context));
  const config = {
    slots,
    reportIntervalMs: 30,
    drainMs,
    stepTimeoutSeconds: settings.stepTimeoutSeconds ?? 600,
    toolTimeoutSeconds: 120,
    mostSandboxes: settings.mostSandboxes ?? 100,
    ...settings.providers,
  };
  const clients = {
    sessions: sessions.as('runner'),
    agents: agentsClient.as('runner'),
    files: filesClient.as('runner'),
  };
  const parts = { providers: settings.sandboxes?.(clock), tools: settings.tools };
  const start = () => openRunner(context, config, clients, parts);
  let runner = await start();
  stack.defer(() => runner.stop());

  return {
    get runner() {
      return runner;
    },
    book,
    agents,
    files,
    clock,
    context,
    ask(runtime, ...turns) {
      const agentVersion = agents.add(runtime);
      for (const turn of turns) book.queue({ agentVersion, ...turn });
      context.bus.publish('turns.ready', '');
    },
    async ended(turnId, outcomes = 1) {
      return until(`${turnId} has ended`, () => {
        const journal = book.of(turnId);
        return journal.outcomes.length >= outcomes && journal;
      });
    },
    again(turnId, decisions) {
      book.again(turnId, decisions);
      context.bus.publish('turns.ready', '');
    },
    async crash() {
      await runner.stop();
      runner = await start();
    },
    async passTime(what, holds, stepMs = 10) {
      await passing(what, () => clock.advance(stepMs), holds);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The text of a turn's one message. */
export function textOf(journal: Journal): string | undefined {
  const message = journal.events.find(({ type }) => type === 'agent.message');
  const content = message?.data.content as { text: string }[] | undefined;
  return content?.map(({ text }) => text).join('');
}

/** The text of a turn's last message. */
export function lastTextOf(journal: Journal): string | undefined {
  const content = dataOf(journal, 'agent.message').at(-1)?.content as { text?: string }[] | undefined;
  return content?.map(({ text = '' }) => text).join('');
}

export function typesOf(journal: Journal): string[] {
  return journal.events.map(({ type }) => type);
}

/** The data of all events of a type. */
export function dataOf<Data extends object = Record<string, unknown>>(journal: Journal, type: string) {
  return journal.events.filter((event) => event.type === type).map(({ data }) => data as Data);
}

/** The last one. */
export function outcomeOf(journal: Journal) {
  return journal.outcomes.at(-1)?.kind;
}

/** An agent that plays these steps. */
export function script(...steps: unknown[]): Partial<AgentRuntime> {
  return { model: 'rehearsal/script', modelOptionsJson: JSON.stringify({ steps }) };
}
