import type { ErrorCode } from '../../../lib/error-codes.ts';

/** The access that a route requires. */
export type RequiredAccess = 'nothing' | 'a signature' | 'read' | 'write' | 'admin' | 'mcp' | 'mcp or write';

/** The result of an authorized request: a code of the envelope, or the status of a response without an envelope. */
export type AuthorizedResult = ErrorCode | 'OK' | number;

export interface RouteExpectation {
  needs: RequiredAccess;
  /** The result for a member. */
  member: AuthorizedResult;
  /** The result for an administrator. Default: the result for a member. */
  administrator?: AuthorizedResult;
  /** The query string. */
  query?: string;
  /** The result for a personal access token. Default: the result for a login. */
  token?: AuthorizedResult;
}

const nothing = (member: AuthorizedResult): RouteExpectation => ({ needs: 'nothing', member });
const read = (member: AuthorizedResult, query?: string): RouteExpectation => ({
  needs: 'read',
  member,
  ...(query ? { query } : {}),
});
const write = (member: AuthorizedResult, query?: string): RouteExpectation => ({
  needs: 'write',
  member,
  ...(query ? { query } : {}),
});
const openai = (member: AuthorizedResult): RouteExpectation => ({ needs: 'mcp or write', member });
const admin = (
  administrator: AuthorizedResult,
  member: AuthorizedResult = 'FORBIDDEN',
): RouteExpectation => ({
  needs: 'admin',
  member,
  administrator,
});

/**
 * The expected access of every route, written by hand. Requests use unknown ids and the body `{}`, so that nothing is changed
 * and the error code shows how far an authorized request gets.
 */
export const ROUTE_ACCESS: Readonly<Record<string, RouteExpectation>> = {
  'GET /': nothing(200),
  'GET /assets/{file}': nothing('ROUTE_NOT_FOUND'),
  'GET /docs': nothing(200),
  'GET /docs/reference.js': nothing(200),
  'GET /openapi.json': nothing(200),
  'GET /llms.txt': nothing(200),
  'GET /.well-known/oauth-protected-resource': nothing(200),
  'GET /.well-known/oauth-protected-resource/api/v1/mcp': nothing(200),
  'GET /.well-known/oauth-protected-resource/mcp': nothing(200),
  'GET /.well-known/oauth-protected-resource/api/v1/mcp/agents/{agent_id}': nothing(200),
  'GET /.well-known/oauth-protected-resource/api/v1/openai/v1': nothing(200),
  'GET /livez': nothing('OK'),
  'GET /readyz': nothing('OK'),
  'GET /healthz': nothing('OK'),
  'GET /metrics': admin(200),

  'GET /api/v1/auth/session': nothing('OK'),
  'GET /api/v1/auth/login': nothing(302),
  'GET /api/v1/auth/callback': nothing('LOGIN_FAILED'),
  'POST /api/v1/auth/logout': nothing('OK'),
  'POST /api/v1/auth/tokens': write('INVALID_REQUEST'),
  'GET /api/v1/auth/tokens': { ...read('OK'), token: 'FORBIDDEN' },
  'DELETE /api/v1/auth/tokens/{token_id}': { ...write('TOKEN_NOT_FOUND'), token: 'FORBIDDEN' },

  'GET /api/v1/auth/connections': read('OK'),
  'POST /api/v1/auth/connections': write('INVALID_REQUEST'),
  'PATCH /api/v1/auth/connections/{connection_id}': write('CONNECTION_NOT_FOUND'),
  'DELETE /api/v1/auth/connections/{connection_id}': write('CONNECTION_NOT_FOUND'),
  'GET /api/v1/auth/connections/callback': nothing('CONNECTION_REFUSED'),
  'GET /api/v1/auth/connections/client.json': nothing(200),

  'GET /api/v1/auth/links': read('OK'),
  'DELETE /api/v1/auth/links/{link_id}': write('LINK_NOT_FOUND'),
  'GET /api/v1/auth/link-codes/{code}': read('LINK_NOT_FOUND'),
  'POST /api/v1/auth/link-codes/{code}': { ...write('LINK_NOT_FOUND'), token: 'FORBIDDEN' },

  'POST /api/v1/deployments/{deployment_id}/callback': {
    needs: 'a signature',
    member: 'DEPLOYMENT_NOT_FOUND',
  },
  'GET /api/v1/deployments/{deployment_id}/posts': {
    needs: 'a signature',
    member: 'DEPLOYMENT_NOT_FOUND',
  },
  'POST /api/v1/deployments/{deployment_id}/trigger': {
    needs: 'a signature',
    member: 'DEPLOYMENT_NOT_FOUND',
  },

  'POST /api/v1/mcp': { needs: 'mcp', member: 'INVALID_REQUEST' },
  'POST /mcp': { needs: 'mcp', member: 'INVALID_REQUEST' },
  'POST /api/v1/mcp/agents/{agent_id}': { needs: 'mcp', member: 'INVALID_REQUEST' },

  'GET /api/v1/openai/v1/models': openai(200),
  'GET /api/v1/openai/v1/models/{model}': openai('AGENT_NOT_FOUND'),
  'POST /api/v1/openai/v1/chat/completions': openai('INVALID_REQUEST'),
  'POST /api/v1/openai/v1/responses': openai('INVALID_REQUEST'),
  'GET /api/v1/openai/v1/responses/{response_id}': openai('SESSION_NOT_FOUND'),
  'POST /api/v1/openai/v1/responses/{response_id}/cancel': openai('SESSION_NOT_FOUND'),
  'DELETE /api/v1/openai/v1/responses/{response_id}': openai('SESSION_NOT_FOUND'),

  'GET /api/v1/a2a/{agent_id}/.well-known/agent-card.json': {
    needs: 'mcp or write',
    member: 'AGENT_NOT_FOUND',
  },
  'POST /api/v1/a2a/{agent_id}': { needs: 'mcp or write', member: 400 },

  'GET /api/v1/agents': read('OK'),
  'POST /api/v1/agents': write('INVALID_REQUEST'),
  'GET /api/v1/agents/{agent_id}': read('AGENT_NOT_FOUND'),
  'PATCH /api/v1/agents/{agent_id}': write('AGENT_NOT_FOUND'),
  'DELETE /api/v1/agents/{agent_id}': write('AGENT_NOT_FOUND'),
  'GET /api/v1/agents/{agent_id}/access': read('AGENT_NOT_FOUND'),
  'PUT /api/v1/agents/{agent_id}/access': write('INVALID_REQUEST'),
  'GET /api/v1/agents/{agent_id}/versions': read('AGENT_NOT_FOUND'),
  'GET /api/v1/agents/{agent_id}/sessions': read('AGENT_NOT_FOUND'),
  'POST /api/v1/agents/{agent_id}/conversations': write('AGENT_NOT_FOUND'),

  'GET /api/v1/assistants': read('OK'),
  'POST /api/v1/assistants': write('INVALID_REQUEST'),
  'GET /api/v1/assistants/{assistant_id}': read('ASSISTANT_NOT_FOUND'),
  'PATCH /api/v1/assistants/{assistant_id}': write('ASSISTANT_NOT_FOUND'),
  'DELETE /api/v1/assistants/{assistant_id}': write('ASSISTANT_NOT_FOUND'),
  'GET /api/v1/assistants/{assistant_id}/workspace': read('ASSISTANT_NOT_FOUND'),
  'POST /api/v1/assistants/{assistant_id}/conversations': write('ASSISTANT_NOT_FOUND'),
  'GET /api/v1/assistants/{assistant_id}/files': read('ASSISTANT_NOT_FOUND'),
  'POST /api/v1/assistants/{assistant_id}/files': write('UNSUPPORTED_MEDIA_TYPE'),
  'DELETE /api/v1/assistants/{assistant_id}/files': write('ASSISTANT_NOT_FOUND', '?path=a'),
  'POST /api/v1/assistants/{assistant_id}/files/move': write('INVALID_REQUEST'),
  'POST /api/v1/assistants/{assistant_id}/files/directories': write('INVALID_REQUEST'),
  'GET /api/v1/assistants/{assistant_id}/files/changes': read('ASSISTANT_NOT_FOUND'),
  'GET /api/v1/assistants/{assistant_id}/files/entry': read('ASSISTANT_NOT_FOUND', '?path=a'),
  'GET /api/v1/assistants/{assistant_id}/files/content': read('ASSISTANT_NOT_FOUND', '?path=a'),
  'PUT /api/v1/assistants/{assistant_id}/files/content': write('ASSISTANT_NOT_FOUND', '?path=a'),
  'GET /api/v1/assistants/{assistant_id}/files/archive': read('ASSISTANT_NOT_FOUND'),

  'GET /api/v1/sessions': read('OK'),
  'GET /api/v1/sessions/{session_id}': read('SESSION_NOT_FOUND'),
  'PATCH /api/v1/sessions/{session_id}': write('SESSION_NOT_FOUND'),
  'DELETE /api/v1/sessions/{session_id}': write('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/archive': write('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/agent-version': write('INVALID_REQUEST'),
  'POST /api/v1/sessions/{session_id}/messages': write('INVALID_REQUEST'),
  'GET /api/v1/sessions/{session_id}/messages': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/turns': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/turns/{turn_id}': read('SESSION_NOT_FOUND'),
  'DELETE /api/v1/sessions/{session_id}/turns/{turn_id}': write('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/interrupt': write('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/queue/release': write('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/turns/{turn_id}/regenerate': write('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/context': read('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/compact': write('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/approvals': read('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/approvals/{approval_id}': write('INVALID_REQUEST'),
  'GET /api/v1/sessions/{session_id}/tool-calls': read('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/tool-results': write('INVALID_REQUEST'),
  'POST /api/v1/sessions/{session_id}/fork': write('INVALID_REQUEST'),
  'GET /api/v1/sessions/{session_id}/events': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/events/stream': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/export': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/ai-messages': read('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/ai-stream': write('INVALID_REQUEST'),
  'GET /api/v1/sessions/{session_id}/ai-stream': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/ai-stream/{chat_id}/stream': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/parts/{sha256}': read('SESSION_NOT_FOUND'),
  'POST /api/v1/uploads': write('INVALID_REQUEST', '?media_type=none'),
  'GET /api/v1/sessions/{session_id}/files': read('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/files': write('UNSUPPORTED_MEDIA_TYPE'),
  'DELETE /api/v1/sessions/{session_id}/files': write('SESSION_NOT_FOUND', '?path=a'),
  'POST /api/v1/sessions/{session_id}/files/move': write('INVALID_REQUEST'),
  'POST /api/v1/sessions/{session_id}/files/directories': write('INVALID_REQUEST'),
  'GET /api/v1/sessions/{session_id}/files/changes': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/files/entry': read('SESSION_NOT_FOUND', '?path=a'),
  'GET /api/v1/sessions/{session_id}/files/content': read('SESSION_NOT_FOUND', '?path=a'),
  'PUT /api/v1/sessions/{session_id}/files/content': write('SESSION_NOT_FOUND', '?path=a'),
  'GET /api/v1/sessions/{session_id}/extensions': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/files/archive': read('SESSION_NOT_FOUND'),

  // These routes require manage access to the agent, not an administrator.
  'GET /api/v1/admin/deployments': read('OK'),
  'GET /api/v1/admin/agents/{agent_id}/deployments': read('AGENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments': write('INVALID_REQUEST'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}': read('DEPLOYMENT_NOT_FOUND'),
  'PATCH /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}': write('DEPLOYMENT_NOT_FOUND'),
  'DELETE /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}': write('DEPLOYMENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/enable': write('DEPLOYMENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/disable': write('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/invocations': read('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/upcoming': read('DEPLOYMENT_NOT_FOUND'),
  'POST /api/v1/admin/deployments/preview-schedule': read('INVALID_SCHEDULE'),
  'POST /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/run': write('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/runs': read('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/runs/{run_id}':
    read('DEPLOYMENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/runs/{run_id}/replay':
    write('DEPLOYMENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/runs/{run_id}/cancel':
    write('DEPLOYMENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/backfills': write('INVALID_REQUEST'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/backfills': read('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/backfills/{backfill_id}':
    read('DEPLOYMENT_NOT_FOUND'),
  'DELETE /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/backfills/{backfill_id}':
    write('DEPLOYMENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/probe': write('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/setup': read('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/deliveries': read('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/conversations':
    read('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/posts': read('DEPLOYMENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/posts/{post_id}/resend':
    write('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/links': read('DEPLOYMENT_NOT_FOUND'),
  'DELETE /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/links/{link_id}':
    write('DEPLOYMENT_NOT_FOUND'),

  'POST /api/v1/admin/vaults': admin('INVALID_REQUEST', 'INVALID_REQUEST'),
  'GET /api/v1/admin/vaults': admin('OK'),
  'GET /api/v1/admin/vaults/{vault_id}': admin('VAULT_NOT_FOUND'),
  'PATCH /api/v1/admin/vaults/{vault_id}': admin('VAULT_NOT_FOUND'),
  'DELETE /api/v1/admin/vaults/{vault_id}': admin('VAULT_NOT_FOUND'),
  'POST /api/v1/admin/vaults/{vault_id}/credentials': admin('INVALID_REQUEST', 'INVALID_REQUEST'),
  'GET /api/v1/admin/vaults/{vault_id}/credentials': admin('VAULT_NOT_FOUND'),
  'GET /api/v1/admin/vaults/{vault_id}/credentials/{credential_id}': admin('VAULT_NOT_FOUND'),
  'PATCH /api/v1/admin/vaults/{vault_id}/credentials/{credential_id}': admin('VAULT_NOT_FOUND'),
  'DELETE /api/v1/admin/vaults/{vault_id}/credentials/{credential_id}': admin('VAULT_NOT_FOUND'),
  'POST /api/v1/admin/vaults/{vault_id}/credentials/{credential_id}/test': admin('VAULT_NOT_FOUND'),
  // Managers of the agent read its vaults; only administrators change them.
  'GET /api/v1/admin/agents/{agent_id}/vaults': read('AGENT_NOT_FOUND'),
  'PUT /api/v1/admin/agents/{agent_id}/vaults': admin('INVALID_REQUEST', 'INVALID_REQUEST'),
  'GET /api/v1/admin/assistants/{assistant_id}/vaults': admin('ASSISTANT_NOT_FOUND', 'ASSISTANT_NOT_FOUND'),
  'PUT /api/v1/admin/assistants/{assistant_id}/vaults': admin('INVALID_REQUEST', 'INVALID_REQUEST'),
  'POST /api/v1/admin/vaults/rotate': admin('OK'),
  'GET /api/v1/admin/vaults/rotations/{rotation_id}': admin('ROTATION_NOT_FOUND'),
  'GET /api/v1/agents/{agent_id}/extensions': read('AGENT_NOT_FOUND'),
  'PUT /api/v1/agents/{agent_id}/extensions': write('INVALID_REQUEST'),
  'GET /api/v1/assistants/{assistant_id}/extensions': read('ASSISTANT_NOT_FOUND'),
  'PUT /api/v1/assistants/{assistant_id}/extensions': write('INVALID_REQUEST'),

  'GET /api/v1/admin/mcp-servers': admin('OK'),
  'POST /api/v1/admin/mcp-servers': admin('INVALID_REQUEST', 'INVALID_REQUEST'),
  'GET /api/v1/admin/mcp-servers/{mcp_server_id}': admin('MCP_SERVER_NOT_FOUND'),
  'PATCH /api/v1/admin/mcp-servers/{mcp_server_id}': admin('MCP_SERVER_NOT_FOUND'),
  'DELETE /api/v1/admin/mcp-servers/{mcp_server_id}': admin('MCP_SERVER_NOT_FOUND'),
  'POST /api/v1/admin/mcp-servers/{mcp_server_id}/probe': admin('MCP_SERVER_NOT_FOUND'),
  'GET /api/v1/admin/mcp-servers/{mcp_server_id}/catalogue': admin('MCP_SERVER_NOT_FOUND'),
  'PUT /api/v1/admin/mcp-servers/{mcp_server_id}/catalogue': admin('INVALID_REQUEST', 'INVALID_REQUEST'),

  'GET /api/v1/admin/skills': admin('OK'),
  'POST /api/v1/admin/skills': admin('UNSUPPORTED_MEDIA_TYPE', 'UNSUPPORTED_MEDIA_TYPE'),
  'GET /api/v1/admin/skills/{skill_id}': admin('SKILL_NOT_FOUND'),
  'PATCH /api/v1/admin/skills/{skill_id}': admin('SKILL_NOT_FOUND'),
  'DELETE /api/v1/admin/skills/{skill_id}': admin('SKILL_NOT_FOUND'),
  'GET /api/v1/admin/skills/{skill_id}/versions': admin('SKILL_NOT_FOUND'),
  'POST /api/v1/admin/skills/{skill_id}/versions': admin('UNSUPPORTED_MEDIA_TYPE', 'UNSUPPORTED_MEDIA_TYPE'),
  'GET /api/v1/admin/skills/{skill_id}/versions/{version}': admin('SKILL_NOT_FOUND'),
  'GET /api/v1/admin/skills/{skill_id}/versions/{version}/files': admin('SKILL_NOT_FOUND'),
  'GET /api/v1/admin/skills/{skill_id}/versions/{version}/files/content': {
    ...admin('SKILL_NOT_FOUND'),
    query: '?path=a',
  },

  'GET /api/v1/admin/environments': admin('OK'),
  'POST /api/v1/admin/environments': admin('INVALID_REQUEST', 'INVALID_REQUEST'),
  'GET /api/v1/admin/environments/{environment_id}': admin('ENVIRONMENT_NOT_FOUND'),
  'PATCH /api/v1/admin/environments/{environment_id}': admin('ENVIRONMENT_NOT_FOUND'),
  'DELETE /api/v1/admin/environments/{environment_id}': admin('ENVIRONMENT_NOT_FOUND'),
  'GET /api/v1/admin/environments/{environment_id}/versions': admin('ENVIRONMENT_NOT_FOUND'),
  'GET /api/v1/admin/sessions': admin('OK'),
  'GET /api/v1/admin/configuration': admin('OK'),
  'GET /api/v1/admin/audit': admin('OK'),
  'POST /api/v1/admin/audit/verify': admin('OK'),
  'GET /api/v1/admin/sandboxes': admin('OK'),
  'GET /api/v1/admin/sandboxes/{sandbox_id}': admin('SANDBOX_NOT_FOUND'),
  'POST /api/v1/admin/sandboxes/{sandbox_id}/terminate': admin('SANDBOX_NOT_FOUND'),
  'GET /api/v1/models': read('OK'),
  'GET /api/v1/users': read('OK', '?q=al'),
  'GET /api/v1/admin/users': admin('OK'),
  'POST /api/v1/admin/users/{user_id}/enable': admin('USER_NOT_FOUND'),
  'POST /api/v1/admin/users/{user_id}/disable': admin('USER_NOT_FOUND'),
};
