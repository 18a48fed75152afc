import type { ActName } from '../../../lib/acts.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Recorder } from '../../../lib/grpc/recorder.ts';
import type { Viewer } from '../domain/access.ts';
import type { Agent } from '../domain.ts';

type Owned = Pick<Agent, 'agentId' | 'createdBy'>;

/** Writes down what an administrator does with, and sees of, what is somebody else's. */
export type NoteForeign = (
  action: ActName,
  what: Owned | undefined,
  viewer: Viewer,
  call: Call,
) => Promise<void>;

export function isForeign({ createdBy }: Owned, { userId, isAdministrator }: Viewer): boolean {
  return isAdministrator && createdBy !== userId;
}

export function createNoteForeign(record: Recorder): NoteForeign {
  return async (action, what, viewer, call) => {
    if (what && isForeign(what, viewer)) await record({ action, targetId: what.agentId }, call);
  };
}
