import { callerOf, isAdministrator } from '../../../lib/grpc/caller.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Viewer } from '../domain/access.ts';

/** On whose behalf the call is made. Refused with UNAUTHENTICATED. */
export function viewerOf(call: Call): Viewer {
  const { userId, groups = [] } = callerOf(call);
  return { userId, groups, isAdministrator: isAdministrator(call) };
}
