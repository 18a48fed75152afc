import { type CallContext, type Channel, createClientFactory, ServerError } from 'nice-grpc';
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  HealthDefinition,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../proto/gen/grpc/health/v1/health.ts';
import type { Contract } from './contract.ts';

export { HealthDefinition } from '../../proto/gen/grpc/health/v1/health.ts';

const NOT_FOUND = 5;
const CLIENT_TIMEOUT_MS = 2_000;
/** While a client watches, the check runs this often. */
const WATCH_INTERVAL_MS = 5_000;

type WatchedCall = Pick<CallContext, 'signal'>;

interface HealthService {
  implementation: {
    check(request: HealthCheckRequest): Promise<HealthCheckResponse>;
    watch(request: HealthCheckRequest, call: WatchedCall): AsyncGenerator<HealthCheckResponse, void>;
  };
  /** Reports NOT_SERVING from now on and ends the streams of all watchers. */
  stop(): void;
}

/**
 * The standard health service (https://grpc.io/docs/guides/health-checking/) for the process (the empty name) and the
 * named services. They share one status: SERVING while `check` resolves. Each `Check` call runs `check`.
 */
export function createHealthService(names: readonly string[], check: () => Promise<void>): HealthService {
  const known = new Set(['', ...names]);
  const watchers = new Set<() => void>();
  let isServing = true;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function refresh(): Promise<void> {
    const succeeded = await check().then(
      () => true,
      () => false,
    );
    const wasServing = isServing;
    isServing = succeeded && !stopped;
    if (isServing !== wasServing) notifyWatchers();
  }

  function notifyWatchers(): void {
    for (const notify of watchers) notify();
  }

  function currentStatus(service: string): ServingStatus {
    if (!known.has(service)) return ServingStatus.SERVICE_UNKNOWN;
    return isServing ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  }

  function addWatcher(notify: () => void): void {
    watchers.add(notify);
    timer ??= setInterval(() => void refresh(), WATCH_INTERVAL_MS).unref();
  }

  function removeWatcher(notify: () => void): void {
    watchers.delete(notify);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    implementation: {
      async check({ service }) {
        if (!known.has(service)) throw new ServerError(NOT_FOUND, `Unknown service ${service}.`);
        await refresh();
        return { status: currentStatus(service) };
      },
      async *watch({ service }, { signal }) {
        let change = Promise.withResolvers<void>();
        const notify = () => change.resolve();
        addWatcher(notify);
        signal.addEventListener('abort', notify, { once: true });
        try {
          await refresh();
          let sent: ServingStatus | undefined;
          while (!signal.aborted) {
            const status = currentStatus(service);
            if (status !== sent) yield { status };
            sent = status;
            if (stopped) return;
            await change.promise;
            change = Promise.withResolvers();
          }
        } finally {
          signal.removeEventListener('abort', notify);
          removeWatcher(notify);
        }
      },
    },
    stop() {
      stopped = true;
      isServing = false;
      notifyWatchers();
    },
  };
}

/** Asks the server of a channel for the status of a service. Rejects when the server cannot be reached. */
export async function isServing(channel: Channel, contract: Contract): Promise<boolean> {
  const client = createClientFactory().create(HealthDefinition, channel);
  const signal = AbortSignal.timeout(CLIENT_TIMEOUT_MS);
  const { status } = await client.check({ service: contract.fullName }, { signal });
  return status === ServingStatus.SERVING;
}
