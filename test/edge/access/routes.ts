import type { ErrorCode } from '../../../lib/errors.ts';

/** What a request has to show to come in. */
export type Need = 'nothing' | 'a signature' | 'read' | 'write' | 'admin';

/** How whoever has come in is answered: a code of the envelope, or the status of what has none. */
export type Inside = ErrorCode | 'OK' | number;

export interface Row {
  needs: Need;
  /** How a member is answered who has come in. */
  member: Inside;
  /** An administrator; like a member when absent. */
  administrator?: Inside;
  /** Behind the path. */
  query?: string;
  /** How whoever comes with a token is answered; like anybody else when absent. */
  token?: Inside;
}

const nothing = (member: Inside): Row => ({ needs: 'nothing', member });
const read = (member: Inside, query?: string): Row => ({
  needs: 'read',
  member,
  ...(query ? { query } : {}),
});
const write = (member: Inside, query?: string): Row => ({
  needs: 'write',
  member,
  ...(query ? { query } : {}),
});
const admin = (administrator: Inside, member: Inside = 'FORBIDDEN'): Row => ({
  needs: 'admin',
  member,
  administrator,
});

/**
 * Every route, written down by hand. Ids in paths are of things that do not exist and bodies are `{}`, so that nothing
 * is changed and whoever has come in sees how far.
 */
export const TABLE: Readonly<Record<string, Row>> = {
  'GET /': nothing(200),
  'GET /assets/{file}': nothing('ROUTE_NOT_FOUND'),
  'GET /docs': nothing(200),
  'GET /docs/reference.js': nothing(200),
  'GET /openapi.json': nothing(200),
  'GET /llms.txt': nothing(200),
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

  'POST /api/v1/deployments/{deployment_id}/trigger': {
    needs: 'a signature',
    member: 'DEPLOYMENT_NOT_FOUND',
  },

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
  'POST /api/v1/assistants/{assistant_id}/files': write('INVALID_REQUEST'),
  'DELETE /api/v1/assistants/{assistant_id}/files': write('ASSISTANT_NOT_FOUND', '?path=a'),
  'POST /api/v1/assistants/{assistant_id}/files/move': write('INVALID_REQUEST'),
  'POST /api/v1/assistants/{assistant_id}/files/directories': write('INVALID_REQUEST'),
  'GET /api/v1/assistants/{assistant_id}/files/changes': read('ASSISTANT_NOT_FOUND'),
  'GET /api/v1/assistants/{assistant_id}/files/entry': read('ASSISTANT_NOT_FOUND', '?path=a'),
  'GET /api/v1/assistants/{assistant_id}/files/content': read('ASSISTANT_NOT_FOUND', '?path=a'),
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
  'POST /api/v1/sessions/{session_id}/interrupt': write('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/approvals': read('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/approvals/{approval_id}': write('INVALID_REQUEST'),
  'POST /api/v1/sessions/{session_id}/fork': write('INVALID_REQUEST'),
  'GET /api/v1/sessions/{session_id}/events': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/events/stream': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/export': read('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/ai-stream': write('INVALID_REQUEST'),
  'GET /api/v1/sessions/{session_id}/ai-stream': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/ai-stream/{chat_id}/stream': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/files': read('SESSION_NOT_FOUND'),
  'POST /api/v1/sessions/{session_id}/files': write('INVALID_REQUEST'),
  'DELETE /api/v1/sessions/{session_id}/files': write('SESSION_NOT_FOUND', '?path=a'),
  'POST /api/v1/sessions/{session_id}/files/move': write('INVALID_REQUEST'),
  'POST /api/v1/sessions/{session_id}/files/directories': write('INVALID_REQUEST'),
  'GET /api/v1/sessions/{session_id}/files/changes': read('SESSION_NOT_FOUND'),
  'GET /api/v1/sessions/{session_id}/files/entry': read('SESSION_NOT_FOUND', '?path=a'),
  'GET /api/v1/sessions/{session_id}/files/content': read('SESSION_NOT_FOUND', '?path=a'),
  'GET /api/v1/sessions/{session_id}/files/archive': read('SESSION_NOT_FOUND'),

  // Who manages an agent need not be an administrator.
  'GET /api/v1/admin/deployments': read('OK'),
  'GET /api/v1/admin/agents/{agent_id}/deployments': read('AGENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments': write('INVALID_REQUEST'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}': read('DEPLOYMENT_NOT_FOUND'),
  'PATCH /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}': write('DEPLOYMENT_NOT_FOUND'),
  'DELETE /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}': write('DEPLOYMENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/enable': write('DEPLOYMENT_NOT_FOUND'),
  'POST /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/disable': write('DEPLOYMENT_NOT_FOUND'),
  'GET /api/v1/admin/agents/{agent_id}/deployments/{deployment_id}/invocations': read('DEPLOYMENT_NOT_FOUND'),

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
  'GET /api/v1/admin/users': admin('OK'),
  'POST /api/v1/admin/users/{user_id}/enable': admin('USER_NOT_FOUND'),
  'POST /api/v1/admin/users/{user_id}/disable': admin('USER_NOT_FOUND'),
};
