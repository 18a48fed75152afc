import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type { Backend } from '../../../lib/modules.ts';
import { startPeriodicTask } from '../../../lib/periodic-task.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { kindOf, type SandboxProviders } from '../sandbox-providers/choose-provider.ts';
import { retryTransient } from '../workspace/retry-transient.ts';

const INTERVAL_MS = 5_000;
/** A service that does not answer must not delay the start or the stop of the runner for longer. */
const TIMEOUT_MS = 1_000;
/** How long the first report is repeated while the service cannot be reached: it may start at the same time as the runner. */
const START_MS = 5_000;

interface ProviderReporterOptions {
  agents: Pick<Client<AgentsServiceDefinition>, 'reportRunner'>;
  clock: Clock;
  log: Log;
  runnerId: string;
  providers: SandboxProviders;
  /** Facts about the runner for operators. */
  backends: readonly Backend[];
  /** The model providers whose API key this runner has. */
  keyProviders: readonly string[];
  /** The optional model providers whose package is installed. */
  optionalProviders: readonly string[];
}

/**
 * Reports the sandbox providers to the agents service, which checks environments against them, and the model providers whose
 * API key and package this runner has. Returns when the service has
 * answered, or after START_MS: the first attempts of turns would fail if the runner claimed them before it reaches the
 * service.
 */
export async function startProviderReporter({
  agents,
  clock,
  log,
  runnerId,
  providers,
  backends,
  keyProviders,
  optionalProviders,
}: ProviderReporterOptions): Promise<{ stop(): Promise<void>; stopWithoutReport(): Promise<void> }> {
  const runner = {
    runnerId,
    providers: providers.available.map((one) => ({ name: one.name, limits: [...kindOf(one).limits] })),
    backends: [...backends],
    keyProviders: [...keyProviders],
    optionalProviders: [...optionalProviders],
  };
  const report = async (stopped = false): Promise<void> => {
    await agents.reportRunner({ runner, stopped }, { deadline: clock.now().getTime() + TIMEOUT_MS });
  };
  const onFailure = (error: unknown) =>
    log.warn({ err: error }, 'the sandbox providers could not be reported; retrying');
  const start = new AbortController();
  const cancelTimeout = clock.after(START_MS, () => start.abort());
  await retryTransient(clock, start.signal, report).catch(onFailure);
  cancelTimeout();
  const task = startPeriodicTask({ clock, everyMs: INTERVAL_MS, work: () => report(), onFailure });
  return {
    async stop() {
      await task.stop();
      await report(true).catch(() => {});
    },
    stopWithoutReport: () => task.stop(),
  };
}
