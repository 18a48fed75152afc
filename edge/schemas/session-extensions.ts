import { Type } from 'typebox';
import type { GetSessionExtensionsResponse } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { count, flag, id, text } from './common.ts';

const name = text('The name. Empty: the resource was deleted.', { examples: ['github'] });
const reason = text('Why the state is not `ready`. Empty: it is.', { examples: [''] });

const SERVER_STATES = [
  ...['ready', 'needs_connection', 'needs_credential', 'unavailable'],
  ...['unreviewed', 'changed', 'disabled', 'deleted'],
];
const VARIABLE_STATES = [
  ...['ready', 'conflict', 'network_not_limited', 'host_not_allowed'],
  ...['refused', 'disabled', 'vault_sealed'],
];

export const SessionExtensionsShape = Type.Object(
  {
    mcp_servers: Type.Array(
      Type.Object(
        {
          mcp_server_id: id('mcp', 'the MCP server'),
          name,
          state: Type.Enum(SERVER_STATES, {
            description:
              'Whether its tools can be called. `unavailable`: the credential of its calls cannot be checked now.',
          }),
          reason,
          credential: Type.Enum(['personal', 'shared', 'none'], {
            description: 'The source of the credentials of its calls.',
          }),
        },
        { title: 'SessionMcpServer' },
      ),
    ),
    skills: Type.Array(
      Type.Object(
        {
          skill_id: id('skl', 'the skill'),
          name,
          version: count('The version that the session has.'),
          state: Type.Enum(['ready', 'disabled', 'deleted']),
          reason,
        },
        { title: 'SessionSkill' },
      ),
    ),
    variables: Type.Array(
      Type.Object(
        {
          name: text('The name of the environment variable.', { examples: ['GITHUB_TOKEN'] }),
          hosts: Type.Array(Type.String(), {
            description:
              'The hosts that can get the value if the state is `ready`, else those of the credential.',
            examples: [['api.github.com']],
          }),
          state: Type.Enum(VARIABLE_STATES, {
            description:
              'The variable is set in the sandbox only if the state is `ready`, or, by the environment, `conflict`.',
          }),
          reason,
        },
        { title: 'SessionVariable' },
      ),
      {
        description:
          'The environment variables that shared vaults give to the sandbox. It gets a placeholder, not the value.',
      },
    ),
    credentials_available: flag(
      'Whether credentials can be read now. If not, `variables` is empty, and servers that need a credential are `unavailable`.',
    ),
  },
  { title: 'SessionExtensions' },
);

export function serializeSessionExtensions(extensions: GetSessionExtensionsResponse) {
  const { mcpServers, skills, variables, credentialsUnavailable } = extensions;
  return {
    mcp_servers: mcpServers.map(({ mcpServerId, ...server }) => ({
      ...{ mcp_server_id: mcpServerId, name: server.name, state: server.state },
      ...{ reason: server.reason, credential: server.credential },
    })),
    skills: skills.map(({ skillId, ...skill }) => ({
      ...{ skill_id: skillId, name: skill.name, version: skill.version },
      ...{ state: skill.state, reason: skill.reason },
    })),
    variables: variables.map(({ name: variable, hosts, state, reason: why }) => ({
      ...{ name: variable, hosts, state, reason: why },
    })),
    credentials_available: !credentialsUnavailable,
  };
}
