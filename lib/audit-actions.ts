/** The actions that the audit log records. Each value describes the action for the reference page. */
export const AUDIT_ACTIONS = {
  'login.begin': 'A user logged in.',
  'login.end': 'A user logged out.',
  'user.enable': 'A user was enabled.',
  'user.disable': 'A user was disabled.',
  'token.create': 'A personal access token was created.',
  'token.delete': 'A personal access token was deleted.',
  'agent.share': 'The users or managers of an agent, or the visibility of its agent card, were changed.',
  'agent.look': "An administrator viewed another user's agent.",
  'agent.update': "An administrator changed another user's agent.",
  'agent.delete': "An administrator deleted another user's agent.",
  'agents.list': "An administrator listed other users' agents.",
  'assistant.look': "An administrator viewed another user's assistant or its files.",
  'session.look': "An administrator viewed another user's session or its files.",
  'session.interrupt':
    "A turn of another user's session was interrupted by an administrator or a manager of the agent.",
  'approval.decide':
    "A user decided an approval of another user's session in a channel. The data has the approval, the decision and the account.",
  'sessions.list': "An administrator listed all users' sessions.",
  'environment.create': 'An environment was created.',
  'environment.update': 'An environment was changed.',
  'environment.delete': 'An environment was deleted.',
  'mcp-server.create': 'An MCP server was created.',
  'mcp-server.update': 'An MCP server was changed.',
  'mcp-server.delete': 'An MCP server was deleted.',
  'mcp-server.probe': 'The catalogue of an MCP server was read.',
  'mcp-server.review': 'The catalogue of an MCP server was reviewed.',
  'mcp-server.drift':
    'The catalogue of an MCP server differs from the reviewed one. The data holds its SHA-256.',
  'skill.create': 'A skill was created.',
  'skill.version': 'A version of a skill was created.',
  'skill.update': 'A skill was enabled or disabled.',
  'skill.delete': 'A skill was deleted.',
  'extensions.update': 'The MCP servers and skills of an agent or assistant were changed.',
  'sandbox.terminate': 'A sandbox was terminated.',
  'deployment.create':
    'A deployment was created. The secret of a webhook, or of a channel with the provider http, was shown.',
  'deployment.update': 'A schedule or a channel was changed.',
  'deployment.enable': 'A deployment was enabled.',
  'deployment.disable': 'A deployment was disabled.',
  'deployment.delete': 'A deployment was deleted.',
  'schedule.run': 'A run of a schedule was queued or replayed by hand, or cancelled.',
  'schedule.backfill': 'A backfill of a schedule was created or cancelled.',
  'channel.probe': 'A channel was compared with its messaging product.',
  'channel.link': 'A user linked an account of a messaging product.',
  'channel.unlink':
    'The link between a user and an account of a messaging product was removed, by the user, in the product, or by a manager of an agent.',
  'deployment.look': "An administrator viewed another user's deployment.",
  'deployments.list': "An administrator listed other users' deployments.",
  'vault.create': 'A vault was created.',
  'vault.update': 'A vault was changed, enabled or disabled.',
  'vault.delete': 'A vault was deleted with its credentials.',
  'vault.assign': 'The vaults of an agent or assistant were changed.',
  'vault.rotate': 'The keys of one vault or of all vaults were rotated.',
  'credential.create': 'A credential was created.',
  'credential.update': 'A credential was changed, enabled or disabled. The data names the changed members.',
  'credential.delete': 'A credential was deleted.',
  'credential.test': 'A credential was tested.',
  'credential.lend':
    'A turn got a credential for a host. Recorded once for each turn, credential and host. With the outcome `refused`: a runner asked without a valid lease, or for an MCP server or credential that the turn may not use.',
  'credential.refuse':
    'A server refused a credential with status 401, so it is not used until its secret is changed.',
  'credential.echo':
    'An answer of a host to a sandbox contained the secret of a credential and was cut. Recorded at most once a minute for each turn, credential and host.',
  'credential.refresh':
    'The tokens of a credential are refreshed. With the outcome `refused`: the issuer refused it, so a new authorization is needed.',
  'connection.begin': 'A user began to connect to an MCP server.',
  'connection.finish': 'A user connected to an MCP server.',
  'connection.refuse': 'An answer of an authorization server was refused. The data has the reason.',
  'connection.update': 'A user changed where a connection is used.',
  'connection.delete': 'A user disconnected from an MCP server.',
  'audit.list': 'An administrator read the audit log.',
  'access.refuse':
    'Requests were refused because the identity, scope or permission was missing, or logins failed. The data holds the number of similar refusals.',
} as const;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

export function isAuditAction(name: string): name is AuditAction {
  return Object.hasOwn(AUDIT_ACTIONS, name);
}
