import { FieldProblems } from '../../../../lib/field-problems.ts';
import type { Handlers } from '../../../../lib/grpc/contract.ts';
import { DeploymentsServiceDefinition } from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { CONNECTION_REPORTS, type ConnectionReport } from '../../domain/channels/connection.ts';
import type { DeploymentsHandlerContext } from '../context.ts';

type Methods = Pick<Handlers<DeploymentsServiceDefinition>, 'reportConnection' | 'reportProbe'>;

const REPORT = { contract: DeploymentsServiceDefinition, method: 'reportConnection' } as const;

/** Reports of channel workers about connections and checks. */
export function connectionHandlers({ reportConnection, probes, sealer }: DeploymentsHandlerContext): Methods {
  return {
    async reportConnection({ deploymentId, fence, state, error, identity, resumeState }, call) {
      const report = {
        ...{ deploymentId, fence, state: checkedState(state), error, identity },
        resumeState: resumeState && sealer.openBytes(resumeState, { ...REPORT, ...call }),
      };
      await reportConnection(report, call);
      return {};
    },

    async reportProbe({ probeId, checks }, call) {
      await probes.report(probeId, checks, call);
      return {};
    },
  };
}

function checkedState(state: string): ConnectionReport['state'] {
  const problems = new FieldProblems();
  problems.oneOf('/state', state, CONNECTION_REPORTS);
  problems.throwIfAny();
  return state as ConnectionReport['state'];
}
