import type { AuditAction } from '../../../lib/audit-actions.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { AgentViewer } from '../domain/access.ts';
import type { Agent } from '../domain/agent.ts';

type Owned = Pick<Agent, 'agentId' | 'createdBy'>;

/** Records an administrator's access to an agent of another user. Does nothing for other accesses. */
type RecordForeignAccess = (
  action: AuditAction,
  target: Owned | undefined,
  viewer: AgentViewer,
  call: Call,
) => Promise<void>;

export function isOwnedByAnother({ createdBy }: Owned, { userId, isAdministrator }: AgentViewer): boolean {
  return isAdministrator && createdBy !== userId;
}

export function createForeignAccessRecorder(record: AuditRecorder): RecordForeignAccess {
  return async (action, target, viewer, call) => {
    if (target && isOwnedByAnother(target, viewer)) await record({ action, targetId: target.agentId }, call);
  };
}
