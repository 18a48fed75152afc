import { isStorageFull } from '../../lib/errors.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import { createPeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import { SchemaValidator } from '../../lib/json-schema/validator.ts';
import { createMcpConnector } from '../../lib/mcp/open.ts';
import { type Backend, DegradedError, type Module } from '../../lib/modules.ts';
import { OutboundClient } from '../../lib/outbound/outbound-client.ts';
import { isPrivateHost } from '../../lib/outbound/private-hosts.ts';
import { PROVIDERS } from '../../lib/sandboxes.ts';
import type { ServiceContext } from '../../lib/service.ts';
import type { Trace } from '../../lib/trace.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import type { ClaimedTurn, SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { VaultsServiceDefinition } from '../../proto/gen/ahs/vaults/v1/vaults.ts';
import type { RunnerConfig } from './config.ts';
import { ContextWindows } from './context/context-windows.ts';
import { createLearnedWindows } from './context/learned-windows.ts';
import { createLentCredentials } from './credentials/lent-credentials.ts';
import { createSessionEgress } from './credentials/session-egress.ts';
import { createRuntimeLoader } from './loop/agent-runtime.ts';
import { createRunnerMetrics } from './loop/metrics.ts';
import { beginTurnSpan } from './loop/spans.ts';
import { runTurn } from './loop/turn.ts';
import { createModelKeyUsers } from './models/model-key-users.ts';
import { ModelOutages } from './models/model-outages.ts';
import { installedProviders } from './models/packages.ts';
import { keyProviders } from './models/provider-settings.ts';
import { createModels } from './models/registry.ts';
import { PartBytes } from './parts/part-bytes.ts';
import { LeaseRenewer } from './queue/lease-renewer.ts';
import { LeasedTurns } from './queue/leased-turns.ts';
import { Reporter } from './queue/reporter.ts';
import { TurnClaimer } from './queue/turn-claimer.ts';
import { startProviderReporter } from './sandbox-pool/provider-reporter.ts';
import { createCommandRunner } from './sandbox-pool/run-command.ts';
import { SandboxPool } from './sandbox-pool/sandbox-pool.ts';
import { describeProviders, type SandboxProviders } from './sandbox-providers/choose-provider.ts';
import { builtInTools } from './tools/builtin.ts';
import { createMcpTools } from './tools/mcp/open.ts';
import { createToolRegistry, type Tool } from './tools/tool.ts';
import { toolboxFactory } from './tools/toolbox.ts';
import { SkillCopies } from './workspace/skill-copies.ts';

export interface RunnerClients {
  sessions: Client<SessionsServiceDefinition>;
  agents: Client<AgentsServiceDefinition>;
  files: Client<FilesServiceDefinition>;
  vaults: Pick<
    Client<VaultsServiceDefinition>,
    'getSessionCredentials' | 'lend' | 'listModelKeyUsers' | 'reportEcho' | 'reportRefusal'
  >;
}

interface RunnerParts {
  /** The sandbox providers; without any, commands fail. */
  providers?: SandboxProviders;
  /** Tools in addition to the built-in ones. */
  tools?: readonly Tool[];
}

interface Runner extends Module {
  /** Facts about this runner for operators. */
  backends: readonly Backend[];
}

const NO_PROVIDERS: SandboxProviders = { available: [], unavailable: [], copies: '' };

/**
 * Opens a runner: it claims turns from sessions, runs their agents and reports their events. A runner keeps no state.
 * Another runner continues a lost turn from its journal.
 */
export async function openRunner(
  context: ServiceContext,
  config: RunnerConfig,
  { sessions, agents, files, vaults }: RunnerClients,
  { providers = NO_PROVIDERS, tools: extraTools = [] }: RunnerParts = {},
): Promise<Runner> {
  const { clock, ids, log, bus, tracer } = context;
  const { slots, reportIntervalMs: followedMs, stepTimeoutSeconds, toolTimeoutSeconds } = config;
  const intervals = { followedMs, unfollowedMs: config.unfollowedReportIntervalMs };
  const runnerId = ids('rnr');
  const turns = new LeasedTurns({ slots, intervals, onFree: () => claimer.slotFreed() });
  const shared = { sessions, clock, log, runnerId, turns, tracer };
  const leaseRenewer = new LeaseRenewer(shared);
  const reporter = new Reporter({ ...shared, intervalMs: followedMs });
  const sandboxes = new SandboxPool({ ...shared, agents, ids, providers, maxSandboxes: config.maxSandboxes });
  warnOfSimulation(providers, log);
  const backends: Backend[] = [
    { role: 'sandbox', description: describeProviders(providers) },
    { role: 'copy limits', description: providers.copies },
    {
      role: 'copy space',
      get description() {
        return providers.describeSpace?.() ?? '';
      },
    },
  ];
  const providerReporter = await startProviderReporter({
    ...shared,
    agents,
    providers,
    backends,
    keyProviders: keyProviders(config),
    optionalProviders: installedProviders(),
  });
  const { skillDirectory: directory } = providers;
  const skillCopies = directory && new SkillCopies({ directory, files, clock, log });
  const sealer = createPeerSealer('runner', context.serviceSecret);
  const lent = createLentCredentials({ vaults, sealer, bus, clock, ids });
  const sessionEgress = createSessionEgress({ vaults, lent, clock, log });
  const commandLine = createCommandRunner(sandboxes, { files, clock, skillCopies, sessionEgress });
  const tools = createToolRegistry(...builtInTools({ clock, files, commandLine }), ...extraTools);
  const schemaValidator = new SchemaValidator(clock);
  const privateHosts = config.outboundPrivateHosts ?? [];
  const outbound = new OutboundClient({ clock, privateHosts });
  const mcpTools = createMcpTools({
    ...{ agents, vaults, files, bus, clock, ids, log, metrics: context.metrics },
    sealer,
    connect: createMcpConnector(outbound, clock),
    maxTools: config.mcpMaxTools,
    isAllowedLink: ({ protocol, hostname, port }) =>
      protocol === 'https:' || isPrivateHost(privateHosts, hostname, Number(port || 80)),
  });
  const loadRuntime = createRuntimeLoader(agents, toolboxFactory(tools, schemaValidator));
  const models = createModels(clock, config, config.modelTable);
  const windows = new ContextWindows({
    declaredWindow: (model) => models(model)?.entry?.contextWindow,
    learned: createLearnedWindows({ agents, clock, log }),
  });
  const modelKeyUsers = createModelKeyUsers({ vaults, bus, clock, log });
  const turnOptions = {
    ...shared,
    ids,
    loadRuntime,
    agents,
    models,
    windows,
    outages: new ModelOutages(clock),
    ...{ modelKeyUsers, credentials: lent },
    hasSkillCopies: skillCopies !== undefined,
    partBytes: new PartBytes(files),
    files,
    validator: schemaValidator,
    mcpTools,
    metrics: createRunnerMetrics(context.metrics),
    reporter,
    stepTimeoutSeconds,
    toolTimeoutSeconds,
  };
  let isDraining = false;

  async function run(claimed: ClaimedTurn, leaseUntil: number, claim: Trace | undefined): Promise<void> {
    const span = beginTurnSpan(tracer, claimed, claim);
    const turn = turns.add(claimed, span, leaseUntil, clock.now().getTime());
    if (isDraining) turn.stop('stopping');
    await runTurn(turn, turnOptions);
    if (turn.stopCause !== 'lost') reporter.reportNow(turn);
  }

  const claimer = new TurnClaimer({
    ...shared,
    freeSlots: () => turns.freeSlots,
    accept(claimedTurns, leaseUntil, leaseMs, claim) {
      for (const claimed of claimedTurns) void run(claimed, leaseUntil, claim);
      leaseRenewer.start(leaseMs);
      reporter.start();
    },
  });
  const unsubscribeReady = bus.subscribe('turns.ready', () => claimer.hint());
  const unsubscribeInterrupted = bus.subscribe('turns.interrupted', (turnId) => {
    const turn = turns.find(turnId);
    if (turn) turns.lose(turn);
  });
  const unsubscribeSteered = bus.subscribe('turns.steered', (turnId) => {
    const turn = turns.find(turnId);
    if (turn) turn.isSteered = true;
  });
  const unsubscribeFollowed = bus.subscribe('sessions.followed', (sessionId) => {
    const turn = turns.findBySession(sessionId);
    if (turn) reporter.noteFollower(turn);
  });
  const unsubscribeEnded = bus.subscribe('sandboxes.ended', (sandboxId) =>
    sandboxes.reportIfKnown(sandboxId),
  );

  /** Turns that end within `drainMs` end by themselves; the others are returned to the queue. */
  async function drain(): Promise<void> {
    isDraining = true;
    unsubscribeReady();
    const claimed = claimer.stop();
    const cancel = clock.after(config.drainMs, () => {
      for (const turn of turns) turn.stop('stopping');
    });
    await claimed;
    await turns.whenEmpty();
    cancel();
    await sandboxes.close();
    await providerReporter.stop();
  }

  return {
    name: 'runner',
    backends,
    async check() {
      const { problem } = claimer;
      if (problem === undefined) return;
      const message = 'turns cannot be claimed from sessions';
      // Reads work while the database is full, so that the process stays ready.
      throw isStorageFull(problem)
        ? new DegradedError(`${message}, because the storage has no space left`)
        : new Error(message);
    },
    drain,
    async stop() {
      unsubscribeReady();
      unsubscribeInterrupted();
      unsubscribeSteered();
      unsubscribeFollowed();
      unsubscribeEnded();
      claimer.abandon();
      for (const turn of turns) turns.lose(turn);
      leaseRenewer.stop();
      reporter.stop();
      await providerReporter.stopWithoutReport();
      await sandboxes.closeWithoutReport();
      await skillCopies?.close();
      await mcpTools.stop();
      lent.close();
      modelKeyUsers.close();
      await outbound.close();
      await schemaValidator[Symbol.asyncDispose]();
    },
  };
}

/** Operators who expect real commands must notice that agents have none. */
function warnOfSimulation(
  { available: [first], unavailable }: SandboxProviders,
  log: ServiceContext['log'],
): void {
  if (!first || PROVIDERS[first.name].isolation === 'kernel' || unavailable.length === 0) return;
  log.warn(
    { unavailable },
    'commands run in the simulated shell, because no stronger sandbox provider works here',
  );
}
