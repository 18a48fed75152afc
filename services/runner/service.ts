import type { Client } from '../../lib/grpc/contract.ts';
import type { Module, StandIn } from '../../lib/modules.ts';
import type { ServiceContext } from '../../lib/service.ts';
import type { Trace } from '../../lib/trace.ts';
import type { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import type { ClaimedTurn, SessionsServiceDefinition } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { RunnerConfig } from './config.ts';
import { createDispatcher } from './dispatcher.ts';
import { Held } from './held.ts';
import { createLeases } from './leases.ts';
import { createModels } from './models/registry.ts';
import { createReporter } from './reporter.ts';
import { createCommandLine } from './sandboxes/command.ts';
import { inForce, type Providers } from './sandboxes/providers.ts';
import { Sandboxes } from './sandboxes/sandboxes.ts';
import { beginTurn } from './spans.ts';
import { builtInTools } from './tools/builtin.ts';
import { createTools, type Tool } from './tools/tool.ts';
import { runTurn } from './turn.ts';
import { createVersions } from './versions.ts';

export interface RunnerClients {
  sessions: Client<SessionsServiceDefinition>;
  agents: Client<AgentsServiceDefinition>;
  files: Client<FilesServiceDefinition>;
}

export interface RunnerParts {
  /** Of sandboxes. */
  providers?: Providers;
  /** Beside the built-in ones. */
  tools?: readonly Tool[];
}

export interface Runner extends Module {
  /** What its commands run in. */
  standIn: StandIn;
}

const NO_PROVIDERS: Providers = { has: [], lacks: [] };

/**
 * Carries out turns: claims them from sessions, runs the agent, reports what happens. It keeps nothing; a
 * turn that it loses goes on elsewhere from what was reported.
 */
export async function openRunner(
  context: ServiceContext,
  config: RunnerConfig,
  { sessions, agents, files }: RunnerClients,
  { providers = NO_PROVIDERS, tools: more = [] }: RunnerParts = {},
): Promise<Runner> {
  const { clock, ids, log, bus, tracer } = context;
  const { slots, reportIntervalMs: intervalMs, stepTimeoutSeconds, toolTimeoutSeconds } = config;
  const runnerId = ids('rnr');
  const held = new Held({ slots, intervalMs, onFree: () => dispatcher.freed() });
  const shared = { sessions, clock, log, runnerId, held, tracer };
  const leases = createLeases(shared);
  const reporter = createReporter({ ...shared, intervalMs });
  const sandboxes = new Sandboxes({ ...shared, agents, ids, providers, most: config.mostSandboxes });
  const commandLine = createCommandLine(sandboxes, files);
  const tools = createTools(...builtInTools({ clock, files, commandLine }), ...more);
  const versions = createVersions(agents, tools);
  const models = createModels(clock, config);
  const turnOptions = { ...shared, ids, versions, models, reporter, stepTimeoutSeconds, toolTimeoutSeconds };
  let isDraining = false;

  async function run(claimed: ClaimedTurn, leaseUntil: number, claim: Trace | undefined): Promise<void> {
    const span = beginTurn(tracer, claimed, claim);
    const turn = held.add(claimed, span, leaseUntil, clock.now().getTime());
    if (isDraining) turn.stop('stopping');
    await runTurn(turn, turnOptions);
    if (turn.stopped !== 'lost') reporter.hurry(turn);
  }

  const dispatcher = createDispatcher({
    ...shared,
    free: () => held.free,
    accept(turns, leaseUntil, leaseMs, claim) {
      for (const claimed of turns) void run(claimed, leaseUntil, claim);
      leases.watch(leaseMs);
      reporter.watch();
    },
  });
  const unsubscribe = bus.subscribe('turns.ready', () => dispatcher.hint());
  const unsubscribeInterrupts = bus.subscribe('turns.interrupted', (turnId) => {
    const turn = held.find(turnId);
    if (turn) held.lose(turn);
  });

  const unsubscribeEnded = bus.subscribe('sandboxes.ended', (sandboxId) => sandboxes.look(sandboxId));

  /** Turns that are nearly done end by themselves; the others are handed back. */
  async function drain(): Promise<void> {
    isDraining = true;
    unsubscribe();
    const claimed = dispatcher.stop();
    const cancel = clock.after(config.drainMs, () => {
      for (const turn of held) turn.stop('stopping');
    });
    await claimed;
    await held.empty();
    cancel();
    await sandboxes.close();
  }

  return {
    name: 'runner',
    standIn: { role: 'sandbox', inForce: inForce(providers) },
    async check() {
      if (dispatcher.problem !== undefined) throw new Error('turns cannot be claimed from sessions');
    },
    drain,
    async stop() {
      unsubscribe();
      unsubscribeInterrupts();
      unsubscribeEnded();
      void dispatcher.stop();
      for (const turn of held) held.lose(turn);
      leases.stop();
      reporter.stop();
      await sandboxes.abandon();
    },
  };
}
