import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'interruptSession' | 'forkSession' | 'setAgentVersion' | 'listApprovals' | 'decideApproval'
>;

export function askingHandlers(): Methods {
  const later = async (): Promise<never> => {
    throw refuse('DEPENDENCY_UNAVAILABLE', 'this release cannot do that yet');
  };
  return {
    interruptSession: later,
    forkSession: later,
    setAgentVersion: later,
    listApprovals: later,
    decideApproval: later,
  };
}
