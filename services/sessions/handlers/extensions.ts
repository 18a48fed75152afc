import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { extensionReason } from '../domain/extension-reason.ts';
import type { SessionsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'getSessionExtensions'>;

/** The MCP servers, skills and variables of the agent version of a session, for users who can read the session. */
export function extensionHandlers({ access, agents }: SessionsHandlerContext): Methods {
  return {
    async getSessionExtensions({ sessionId }, call) {
      const row = await access.requireReader(sessionId, call);
      const { agent_id: agentId, agent_version: version, owner_id: ownerId } = row;
      const session = { agentId, version, ownerId, isTriggered: row.deployment_id !== null };
      const extensions = await agents.getVersionExtensions(session, call);
      return {
        mcpServers: extensions.mcpServers.map(({ mcpServerId, name, state, authorization }) => ({
          ...{ mcpServerId, name, state },
          reason: extensionReason('MCP server', state),
          credential: credentialOf(authorization),
        })),
        skills: extensions.skills.map(({ skillId, name, version: pinned, state }) => ({
          ...{ skillId, name, version: pinned, state },
          reason: extensionReason('skill', state),
        })),
        variables: extensions.variables,
        credentialsUnavailable: extensions.credentialsUnavailable,
      };
    },
  };
}

/** A server that accepts both kinds of credentials tries the personal one first. */
function credentialOf(authorization: string): string {
  if (authorization === 'any') return 'personal';
  return authorization === '' ? 'none' : authorization;
}
