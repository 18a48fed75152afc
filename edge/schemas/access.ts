import { Type } from 'typebox';
import type { Access } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { closed, count, revision } from './common.ts';

export const visibility = Type.Enum(['private', 'public', 'allowlist'], {
  title: 'Visibility',
  description:
    'Who can begin conversations: only managers (`private`), managers and the listed users and groups (`allowlist`), or all ' +
    'users (`public`).',
});

const names = (description: string, example: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    maxItems: 200,
    description,
    examples: [[example]],
  });

const USER = 'usr_01KAK3V9Q6W1X2Y3Z4A5B6C7D8';

const members = {
  visibility,
  managers: names(
    'Ids of users who can change, share, deploy and delete the agent and read its sessions.',
    USER,
  ),
  users: names('Ids of users who can begin conversations when the visibility is `allowlist`.', USER),
  groups: names(
    'Groups of the identity provider whose members can begin conversations when the visibility is `allowlist`.',
    'support',
  ),
};

export const AccessChange = closed(members);
export const AccessShape = Type.Object(
  {
    ...members,
    version: count('The version of the access settings. Starts at 1 and increases with each change.'),
    revision,
  },
  {
    title: 'AgentAccess',
    description: 'The users and groups that can use or manage an agent, in addition to its creator.',
  },
);

export function serializeAccess({ access, version }: { access: Access | undefined; version: number }) {
  return {
    visibility: access?.visibility,
    managers: access?.managers ?? [],
    users: access?.users ?? [],
    groups: access?.groups ?? [],
    version,
    revision: version,
  };
}
