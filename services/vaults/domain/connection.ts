import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { Credential } from './credential.ts';

/** A user's credential for an MCP server, which the user made by connecting. */
export interface Connection extends Credential {
  mcpServerId: string;
  /** The user at the issuer. Empty: unknown. */
  account: string;
  /** Sessions of deployments that the user made can use the connection. */
  useInTriggeredSessions: boolean;
  /** The scopes that the server has demanded since, with those that the connection has. Empty: no others. */
  wantedScopes: string[];
}

export function connectionNotFound(): Refusal {
  return refuse('CONNECTION_NOT_FOUND', 'Unknown connection.');
}

/** The reason is for the log and the audit log alone. */
export function connectionRefused(): Refusal {
  return refuse('CONNECTION_REFUSED', 'The connection failed. Begin it again.');
}

export function serverNotFound(): Refusal {
  return refuse('MCP_SERVER_NOT_FOUND', 'Unknown MCP server, or one to which users do not connect.');
}

/** A personal access token cannot connect: an authorization needs the browser of the user. */
export function loginRequired(): Refusal {
  return refuse('FORBIDDEN', 'Connections can be made only with a login, not with a token.');
}
