import { callerOf, isAdministrator } from '../../../lib/grpc/caller.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { AgentViewer } from '../domain/access.ts';

/** The user on behalf of whom the call is made. Refused with UNAUTHENTICATED. */
export function viewerOf(call: Call): AgentViewer {
  const { userId, groups = [] } = callerOf(call);
  return { userId, groups, isAdministrator: isAdministrator(call) };
}
