import { isId } from '../../../lib/ids.ts';
import type { CallingTurn } from '../tools/tool.ts';

/** Who shares a sandbox. */
export interface Tenant {
  /** session | agent | assistant */
  tenancy: string;
  /** ses_…, agt_… or ast_… */
  tenantId: string;
  /** The same for the same sandbox. */
  key: string;
}

/** An assistant has one sandbox for all of its sessions, whatever its environment says. */
export function tenantOf({ agentId, ownerId, lease }: CallingTurn, wanted: string): Tenant {
  const tenancy = isId('ast', agentId) ? 'assistant' : wanted === 'agent' ? 'agent' : 'session';
  const tenantId = tenancy === 'session' ? lease.sessionId : agentId;
  return { tenancy, tenantId, key: `${tenancy} ${tenantId} ${ownerId}` };
}

/** wsp_… of the assistant, or of the session. */
export function workspaceIdOf({ agentId, lease }: CallingTurn): string {
  const whose = isId('ast', agentId) ? agentId : lease.sessionId;
  return `wsp_${whose.slice(whose.indexOf('_') + 1)}`;
}
