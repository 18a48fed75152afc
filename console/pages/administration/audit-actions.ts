import type { ActFilters } from '../../api/audit.ts';
import type { Act } from '../../gen/index.ts';
import type { AdministrationSearch } from './search.ts';

/** Display names of all audited actions. */
const ACTION_NAMES: Record<Act['action'], string> = {
  'login.begin': 'Logged in',
  'login.end': 'Logged out',
  'user.enable': 'Enabled a user',
  'user.disable': 'Disabled a user',
  'token.create': 'Created a token',
  'token.delete': 'Deleted a token',
  'agent.share': 'Shared an agent',
  'agent.look': 'Viewed an agent',
  'agent.update': 'Changed an agent',
  'agent.delete': 'Deleted an agent',
  'agents.list': 'Listed agents',
  'assistant.look': 'Viewed an assistant',
  'session.look': 'Viewed a session',
  'session.interrupt': 'Stopped a session',
  'approval.decide': 'Decided an approval',
  'sessions.list': 'Listed sessions',
  'environment.create': 'Created an environment',
  'environment.update': 'Changed an environment',
  'environment.delete': 'Deleted an environment',
  'mcp-server.create': 'Created an MCP server',
  'mcp-server.update': 'Changed an MCP server',
  'mcp-server.delete': 'Deleted an MCP server',
  'mcp-server.probe': 'Probed an MCP server',
  'mcp-server.review': 'Reviewed an MCP server',
  'mcp-server.drift': 'An MCP server changed its tools',
  'skill.create': 'Created a skill',
  'skill.version': 'Published a skill version',
  'skill.update': 'Changed a skill',
  'skill.delete': 'Deleted a skill',
  'extensions.update': 'Changed extensions',
  'vault.create': 'Created a vault',
  'vault.update': 'Changed a vault',
  'vault.delete': 'Deleted a vault',
  'vault.assign': 'Assigned vaults',
  'vault.rotate': 'Rotated vault keys',
  'credential.create': 'Created a credential',
  'credential.update': 'Changed a credential',
  'credential.delete': 'Deleted a credential',
  'credential.test': 'Tested a credential',
  'credential.lend': 'Lent a credential to a turn',
  'credential.refuse': 'A server refused a credential',
  'credential.echo': 'An answer to a sandbox contained a credential',
  'credential.refresh': 'Refreshed the tokens of a credential',
  'connection.begin': 'Began to connect to a server',
  'connection.finish': 'Connected to a server',
  'connection.refuse': 'An authorization was refused',
  'connection.update': 'Changed a connection',
  'connection.delete': 'Disconnected from a server',
  'sandbox.terminate': 'Terminated a sandbox',
  'deployment.create': 'Created a deployment',
  'deployment.update': 'Changed a schedule or a channel',
  'deployment.enable': 'Enabled a deployment',
  'deployment.disable': 'Disabled a deployment',
  'deployment.delete': 'Deleted a deployment',
  'schedule.run': 'Ran, replayed or cancelled a run of a schedule',
  'schedule.backfill': 'Created or cancelled a backfill of a schedule',
  'channel.probe': 'Checked a channel',
  'channel.link': 'Linked an account of a messaging product',
  'channel.unlink': 'Removed a link to an account of a messaging product',
  'deployment.look': 'Viewed a deployment',
  'deployments.list': 'Listed deployments',
  'audit.list': 'Read the audit log',
  'access.refuse': 'Access denied',
};

export const actionName = (action: Act['action']) => ACTION_NAMES[action] ?? action;

export const ACTIONS = (Object.keys(ACTION_NAMES) as Act['action'][]).map((value) => ({
  value,
  text: ACTION_NAMES[value],
}));

/** Converts the query parameters into API filters. Omits invalid times. */
export function auditFiltersOf(search: AdministrationSearch): ActFilters {
  const action = ACTIONS.find(({ value }) => value === search.action)?.value;
  const filters: ActFilters = {};
  if (action) filters.action = action;
  if (search.outcome) filters.outcome = search.outcome;
  if (search.actor) filters.actor_id = search.actor;
  if (search.target) filters.target_id = search.target;
  if (search.from && isTime(search.from)) filters.from = search.from;
  if (search.until && isTime(search.until)) filters.until = search.until;
  return filters;
}

const isTime = (text: string) => !Number.isNaN(Date.parse(text));
