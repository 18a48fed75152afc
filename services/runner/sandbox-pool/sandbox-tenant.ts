import { isId } from '../../../lib/ids.ts';
import type { CallingTurn } from '../tool-calls/tool-call.ts';

/** The session, agent or assistant that has a sandbox of its own. */
export interface SandboxTenant {
  /** session | agent | assistant */
  tenancy: string;
  /** ses_…, agt_… or ast_… */
  tenantId: string;
  /** Identifies the sandbox of the tenant within the pool. */
  key: string;
}

/** Returns the tenant of a turn. An assistant has one sandbox for all its sessions, regardless of its environment. */
export function tenantOf({ agentId, ownerId, lease }: CallingTurn, requested: string): SandboxTenant {
  const tenancy = isId('ast', agentId) ? 'assistant' : requested === 'agent' ? 'agent' : 'session';
  const tenantId = tenancy === 'session' ? lease.sessionId : agentId;
  return { tenancy, tenantId, key: `${tenancy} ${tenantId} ${ownerId}` };
}

/** Returns the workspace id (wsp_…) of the assistant, or else of the session. */
export function workspaceIdOf({ agentId, lease }: CallingTurn): string {
  const id = isId('ast', agentId) ? agentId : lease.sessionId;
  return `wsp_${id.slice(id.indexOf('_') + 1)}`;
}
