import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Call, Client } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { Lease, SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { credentialNotFound } from '../domain/credential.ts';
import type { AgentLookups } from './agent-lookups.ts';
import type { LendingAudit, TurnOrigin } from './audit.ts';
import { type NamedUse, sharedNeed, type TurnNeed, type TurnServer } from './turn-need.ts';

/** A turn whose lease the runner holds. */
export interface LeasedTurn extends TurnOrigin {
  lease: Lease;
  /** 0 for an assistant. */
  agentVersion: number;
  /** Empty for a session that a user created. */
  deploymentId: string;
  /** A deployment has started the turn, also in a session that a user created. */
  triggered: boolean;
}

interface TurnAccessContext {
  sessions: Pick<Client<SessionsServiceDefinition>, 'checkLease'>;
  lookups: AgentLookups;
  audit: Pick<LendingAudit, 'recordRefusal'>;
}

export type TurnAccess = ReturnType<typeof createTurnAccess>;

/** Decides for which turn and uses a runner can get credentials. Refused requests are recorded in the audit log. */
export function createTurnAccess({ sessions, lookups, audit }: TurnAccessContext) {
  /** Returns a server of the agent version of a turn. Refused with MCP_SERVER_NOT_FOUND. */
  async function requireServer(turn: LeasedTurn, mcpServerId: string, call: Call): Promise<TurnServer> {
    const ids = await lookups.serverIds(turn.agentId, turn.agentVersion, call);
    if (!ids.includes(mcpServerId)) {
      const targetId = isId('mcp', mcpServerId) ? mcpServerId : '';
      await audit.recordRefusal({ targetId, reason: 'server_not_in_agent_version', origin: turn }, call);
      throw notInVersion();
    }
    const server = await lookups.server(mcpServerId, call);
    if (!server) throw notInVersion();
    const { url, authorization, enabled: isEnabled } = server;
    return { kind: 'server', mcpServerId, url, host: new URL(url).host, authorization, isEnabled };
  }

  /** Refuses a use with a credential that the vaults of the agent do not have. */
  async function refuseUse(turn: LeasedTurn, { kind }: NamedUse, call: Call): Promise<never> {
    const reason = kind === 'variable' ? 'variable_not_in_session' : 'host_not_in_session';
    await audit.recordRefusal({ targetId: '', reason, origin: turn }, call);
    throw credentialNotFound();
  }

  return {
    /** Returns the turn of a lease. Refused with LEASE_LOST. */
    async requireTurn(lease: Lease | undefined, call: Call): Promise<LeasedTurn> {
      const held = lease ?? { sessionId: '', turnId: '', fence: 0 };
      const { sessionId, turnId } = held;
      try {
        const turn = await sessions.checkLease({ lease: held, uses: [] }, call);
        return { ...turn, sessionId, turnId, lease: held };
      } catch (error) {
        if (error instanceof Refusal && error.code === 'LEASE_LOST')
          await audit.recordRefusal(
            { targetId: isId('trn', turnId) ? turnId : '', reason: 'lease_lost' },
            call,
          );
        throw error;
      }
    },

    /** Returns what a turn wants. Refused with MCP_SERVER_NOT_FOUND, and CREDENTIAL_NOT_FOUND for a malformed host. */
    async requireNeed(turn: LeasedTurn, use: NamedUse, call: Call): Promise<TurnNeed> {
      if (use.kind === 'server') return requireServer(turn, use.mcpServerId, call);
      return sharedNeed(use) ?? refuseUse(turn, use, call);
    },

    refuseUse,
  };
}

function notInVersion(): Refusal {
  return refuse('MCP_SERVER_NOT_FOUND', 'The agent version does not have this MCP server.');
}
