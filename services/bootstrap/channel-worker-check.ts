import type { Client } from '../../lib/grpc/contract.ts';
import { DegradedError, type Module } from '../../lib/modules.ts';
import type { DeploymentsServiceDefinition } from '../../proto/gen/ahs/deployments/v1/deployments.ts';

type WorkerList = Pick<Client<DeploymentsServiceDefinition>, 'listChannelWorkers'>;

/** Shorter than the time limit of a check. */
const TIMEOUT_MS = 1_000;

/** The check of a process that has neither channel workers nor deployments. Another check reports that deployments is away. */
export function channelWorkerCheck(deployments: WorkerList): Module {
  return {
    name: 'channel worker',
    isOptional: true,
    isRemote: true,
    async check() {
      const answer = await deployments
        .listChannelWorkers({}, { timeoutMs: TIMEOUT_MS })
        .catch(() => ({ isMissing: false }));
      if (answer.isMissing)
        throw new DegradedError('no channel worker has asked for work for a minute; channels wait for one');
    },
    stop: async () => {},
  };
}
