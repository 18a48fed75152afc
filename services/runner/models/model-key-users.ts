import type { Bus } from '../../../lib/bus/bus.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';

interface ModelKeyUsersContext {
  vaults: Pick<Client<VaultsServiceDefinition>, 'listModelKeyUsers'>;
  bus: Bus;
  clock: Clock;
  log: Log;
}

interface KnownUsers {
  providersOf: ReadonlyMap<string, readonly string[]>;
  isComplete: boolean;
}

/** The list is read again after this time, because a hint can be lost. */
const MAX_AGE_MS = 10_000;
/** The list is read at most this often, also when many hints arrive or the vaults service does not answer. */
const MIN_INTERVAL_MS = 1_000;

export type ModelKeyUsers = ReturnType<typeof createModelKeyUsers>;

/**
 * Knows which agents have model keys, so that turns of other agents need neither a call nor the vaults service. The list is
 * read when a turn asks and it is old. When it cannot be read, the last one counts: keys change through the vaults service
 * alone.
 */
export function createModelKeyUsers({ vaults, bus, clock, log }: ModelKeyUsersContext) {
  let known: KnownUsers | undefined;
  let loading: Promise<KnownUsers> | undefined;
  let loadedAt = Number.NEGATIVE_INFINITY;
  let isOutdated = false;
  const unsubscribe = bus.subscribe('credentials.changed', () => {
    isOutdated = true;
  });

  async function load(trace: Trace): Promise<KnownUsers> {
    isOutdated = false;
    loadedAt = clock.now().getTime();
    try {
      const { users, isComplete } = await vaults.listModelKeyUsers({}, { trace });
      known = { providersOf: new Map(users.map((user) => [user.agentId, user.providers])), isComplete };
      return known;
    } catch (error) {
      if (!known) throw error;
      isOutdated = true;
      log.warn({ err: error }, 'the agents with model keys cannot be read now; the last list counts');
      return known;
    } finally {
      loading = undefined;
    }
  }

  function current(trace: Trace): Promise<KnownUsers> | KnownUsers {
    // When the clock was set back, the age is unknown.
    const age = Math.abs(clock.now().getTime() - loadedAt);
    if (known && age < (isOutdated ? MIN_INTERVAL_MS : MAX_AGE_MS)) return known;
    loading ??= load(trace);
    return loading;
  }

  return {
    /** Whether an agent may have a model key for a provider. Rejects when the list has never been read and cannot be read. */
    async mayHaveKey(agentId: string, provider: string, trace: Trace): Promise<boolean> {
      const { providersOf, isComplete } = await current(trace);
      return providersOf.get(agentId)?.includes(provider) ?? !isComplete;
    },

    close: unsubscribe,
  };
}
