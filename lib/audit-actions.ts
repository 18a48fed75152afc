/** The actions that the audit log records. Each value describes the action for the reference page. */
export const AUDIT_ACTIONS = {
  'login.begin': 'A user logged in.',
  'login.end': 'A user logged out.',
  'user.enable': 'A user was enabled.',
  'user.disable': 'A user was disabled.',
  'token.create': 'A personal access token was created.',
  'token.delete': 'A personal access token was deleted.',
  'agent.share': 'The users or managers of an agent were changed.',
  'agent.look': "An administrator viewed another user's agent.",
  'agent.update': "An administrator changed another user's agent.",
  'agent.delete': "An administrator deleted another user's agent.",
  'agents.list': "An administrator listed other users' agents.",
  'assistant.look': "An administrator viewed another user's assistant or its files.",
  'session.look': "An administrator viewed another user's session or its files.",
  'session.interrupt':
    "A turn of another user's session was interrupted by an administrator or a manager of the agent.",
  'sessions.list': "An administrator listed all users' sessions.",
  'environment.create': 'An environment was created.',
  'environment.update': 'An environment was changed.',
  'environment.delete': 'An environment was deleted.',
  'sandbox.terminate': 'A sandbox was terminated.',
  'deployment.create': 'A deployment was created and its secret was shown.',
  'deployment.enable': 'A deployment was enabled.',
  'deployment.disable': 'A deployment was disabled.',
  'deployment.delete': 'A deployment was deleted.',
  'deployment.look': "An administrator viewed another user's deployment.",
  'deployments.list': "An administrator listed other users' deployments.",
  'audit.list': 'An administrator read the audit log.',
  'access.refuse':
    'Requests were refused because the identity, scope or permission was missing, or logins failed. The data holds the number of similar refusals.',
} as const;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

export function isAuditAction(name: string): name is AuditAction {
  return Object.hasOwn(AUDIT_ACTIONS, name);
}
