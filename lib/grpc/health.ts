import { type CallContext, type Channel, createClientFactory } from 'nice-grpc';
import { HealthDefinition, HealthServiceImpl, HealthState } from 'nice-grpc-server-health';
import type { Contract } from './contract.ts';

/** SERVING of the standard health service (https://grpc.io/docs/guides/health-checking/). */
const SERVING = 1;
const ANSWER_MS = 2_000;

export interface Health {
  service: HealthServiceImpl;
  /** Says NOT_SERVING from here on. */
  end(): void;
}

/** The standard health service. Each question is answered by trying: the process as a whole does its work, or does not. */
export function createHealth(names: readonly string[], check: () => Promise<void>): Health {
  const state = HealthState();
  const standard = HealthServiceImpl(state);
  let ended = false;
  const tell = (isWell: boolean) => {
    for (const name of ['', ...names]) state.setStatus(isWell && !ended ? 'healthy' : 'unhealthy', name);
  };
  tell(true);
  return {
    service: {
      ...standard,
      async check(request, context: CallContext) {
        await check().then(
          () => tell(true),
          () => tell(false),
        );
        return standard.check(request, context);
      },
    },
    end() {
      ended = true;
      tell(false);
    },
  };
}

export async function askHealth(channel: Channel, contract: Contract): Promise<boolean> {
  const client = createClientFactory().create(HealthDefinition, channel);
  const signal = AbortSignal.timeout(ANSWER_MS);
  const { status } = await client.check({ service: contract.fullName }, { signal });
  return status === SERVING;
}
