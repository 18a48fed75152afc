import type { Module } from '../../../lib/modules.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import type { AgentRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import type { ProviderSettings } from '../../../services/runner/models/provider-settings.ts';
import type { SandboxProviders } from '../../../services/runner/sandbox-providers/choose-provider.ts';
import { openRunner } from '../../../services/runner/service.ts';
import type { Tool } from '../../../services/runner/tools/tool.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { connect, createContext, type TransportName } from '../../support/context.ts';
import { advanceUntil, until } from '../../support/wait.ts';
import { createFakeAgents, type FakeAgents } from './fake-agents.ts';
import { createFakeFiles, type FakeFiles } from './fake-files.ts';
import { createFakeSessions, type FakeSessions, type Journal, type QueuedTurn } from './fake-sessions.ts';
import { createFakeVaults, type FakeVaults } from './fake-vaults.ts';

export interface RunnerUnderTest extends AsyncDisposable {
  runner: Module;
  sessions: FakeSessions;
  agents: FakeAgents;
  files: FakeFiles;
  vaults: FakeVaults;
  clock: FakeClock;
  context: ServiceContext;
  /** Adds an agent version, queues turns of it and publishes the turns.ready hint. */
  queueTurns(runtime: Partial<AgentRuntime>, ...turns: QueuedTurn[]): void;
  /** Waits until a turn has `outcomes` outcomes (default 1) and returns its journal. */
  waitForOutcome(turnId: string, outcomes?: number): Promise<Journal>;
  /** Queues a turn again with decisions about its calls, and publishes the turns.ready hint. */
  requeue(turnId: string, decisions?: Parameters<FakeSessions['requeue']>[1]): void;
  /** Stops the runner without draining it, and starts another one. Reported events are kept. */
  crash(): Promise<void>;
  /** Moves the clock in small steps until the condition holds. */
  advanceUntil(what: string, holds: () => boolean, stepMs?: number): Promise<void>;
}

export interface RunnerSettings {
  transport?: TransportName;
  slots?: number;
  leaseMs?: number;
  drainMs?: number;
  stepTimeoutSeconds?: number;
  /** Added to the built-in tools. */
  tools?: Tool[];
  tracer?: ServiceContext['tracer'];
  /** The log is silent by default. */
  log?: ServiceContext['log'];
  providers?: ProviderSettings;
  /** Sandbox providers. Commands cannot run without one. */
  sandboxes?: (clock: FakeClock) => SandboxProviders;
  maxSandboxes?: number;
  /** Ports of 127.0.0.1 at which MCP servers may be. */
  mcpPorts?: number[];
  mcpMaxTools?: number;
  /** Claims wait for turns. By default they are answered at once, as by a service of an older release. */
  claimsWait?: boolean;
}

/** Starts a runner with a fake clock and in-memory versions of the services that it calls. */
export async function openTestRunner(settings: RunnerSettings = {}): Promise<RunnerUnderTest> {
  const { transport = 'in process', slots = 8, leaseMs = 15_000, drainMs = 1_000 } = settings;
  const stack = new AsyncDisposableStack();
  const clock = createFakeClock();
  const { tracer, log } = settings;
  const context = createContext('', { clock, ...(tracer && { tracer }), ...(log && { log }) });
  if (!log) context.log.level = 'silent';
  const fakeSessions = createFakeSessions(context, leaseMs);
  fakeSessions.waits = settings.claimsWait ?? false;
  const agents = createFakeAgents(context);
  const files = createFakeFiles(context);
  files.holds = ({ turnId, fence }) => fakeSessions.holds(turnId, fence);
  const sessions = stack.use(
    await connect(SessionsServiceDefinition, fakeSessions.endpoint, transport, context),
  );
  const agentsClient = stack.use(await connect(AgentsServiceDefinition, agents.endpoint, transport, context));
  const filesClient = stack.use(await connect(FilesServiceDefinition, files.endpoint, transport, context));
  const vaults = createFakeVaults(context);
  const vaultsClient = stack.use(await connect(VaultsServiceDefinition, vaults.endpoint, transport, context));
  const config = {
    slots,
    reportIntervalMs: 30,
    unfollowedReportIntervalMs: 500,
    drainMs,
    stepTimeoutSeconds: settings.stepTimeoutSeconds ?? 600,
    toolTimeoutSeconds: 120,
    maxSandboxes: settings.maxSandboxes ?? 100,
    mcpMaxTools: settings.mcpMaxTools ?? 256,
    outboundPrivateHosts: settings.mcpPorts?.map((port) => ({ host: '127.0.0.1', port })),
    ...settings.providers,
  };
  const clients = {
    sessions: sessions.as('runner'),
    agents: agentsClient.as('runner'),
    files: filesClient.as('runner'),
    vaults: vaultsClient.as('runner'),
  };
  const options = { providers: settings.sandboxes?.(clock), tools: settings.tools };
  const start = () => openRunner(context, config, clients, options);
  let runner = await start();
  stack.defer(() => runner.stop());

  return {
    get runner() {
      return runner;
    },
    sessions: fakeSessions,
    agents,
    files,
    vaults,
    clock,
    context,
    queueTurns(runtime, ...turns) {
      const agentVersion = agents.add(runtime);
      for (const turn of turns) fakeSessions.queue({ agentVersion, ...turn });
      context.bus.publish('turns.ready', '');
    },
    async waitForOutcome(turnId, outcomes = 1) {
      return until(`${turnId} has ended`, () => {
        const journal = fakeSessions.journalOf(turnId);
        return journal.outcomes.length >= outcomes && journal;
      });
    },
    requeue(turnId, decisions) {
      fakeSessions.requeue(turnId, decisions);
      context.bus.publish('turns.ready', '');
    },
    async crash() {
      await runner.stop();
      runner = await start();
    },
    async advanceUntil(what, holds, stepMs = 10) {
      await advanceUntil(what, () => clock.advance(stepMs), holds);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Returns the text of the first message of a turn. */
export function textOf(journal: Journal): string | undefined {
  const message = journal.events.find(({ type }) => type === 'agent.message');
  const content = message?.data.content as { text: string }[] | undefined;
  return content?.map(({ text }) => text).join('');
}

/** Returns the text of the last message of a turn. */
export function lastTextOf(journal: Journal): string | undefined {
  const content = dataOf(journal, 'agent.message').at(-1)?.content as { text?: string }[] | undefined;
  return content?.map(({ text = '' }) => text).join('');
}

export function typesOf(journal: Journal): string[] {
  return journal.events.map(({ type }) => type);
}

/** Returns the data of all events of a type. */
export function dataOf<Data extends object = Record<string, unknown>>(journal: Journal, type: string) {
  return journal.events.filter((event) => event.type === type).map(({ data }) => data as Data);
}

/** Returns the last outcome of a turn. */
export function outcomeOf(journal: Journal) {
  return journal.outcomes.at(-1)?.kind;
}

/** Returns an agent whose model plays these steps. */
export function script(...steps: unknown[]): Partial<AgentRuntime> {
  return { model: 'rehearsal/script', modelOptionsJson: JSON.stringify({ steps }) };
}
