/** Everything that is written down in the audit log, and what it means. */
export const ACTS = {
  'login.begin': 'Somebody logged in.',
  'login.end': 'Somebody logged out.',
  'user.enable': 'A user was enabled.',
  'user.disable': 'A user was disabled.',
  'token.create': 'A personal access token was made.',
  'token.delete': 'A personal access token was deleted.',
  'agent.share': 'Who may use and who may manage an agent was changed.',
  'agent.look': 'An administrator looked at the agent of somebody else.',
  'agent.update': 'An administrator changed the agent of somebody else.',
  'agent.delete': 'An administrator deleted the agent of somebody else.',
  'agents.list': 'An administrator listed agents of others.',
  'assistant.look': 'An administrator looked at the assistant of somebody else, or at its files.',
  'session.look': 'An administrator looked at the session of somebody else, or at its files.',
  'sessions.list': 'An administrator listed the sessions of everybody.',
  'environment.create': 'An environment was created.',
  'environment.update': 'An environment was changed.',
  'environment.delete': 'An environment was deleted.',
  'sandbox.terminate': 'A sandbox was terminated.',
  'deployment.create': 'A deployment was created, and its secret shown.',
  'deployment.enable': 'A deployment was enabled.',
  'deployment.disable': 'A deployment was disabled.',
  'deployment.delete': 'A deployment was deleted.',
  'deployment.look': 'An administrator looked at the deployment of somebody else.',
  'deployments.list': 'An administrator listed deployments of others.',
  'audit.list': 'An administrator read the audit log.',
  'access.refuse':
    'Requests were refused for want of an identity, a scope or a right, or logins failed: how many like ones is in the data.',
} as const;

export type ActName = keyof typeof ACTS;

export function isActName(name: string): name is ActName {
  return Object.hasOwn(ACTS, name);
}
