import { Type } from 'typebox';
import type { Access } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { closed, count } from './common.ts';

export const visibility = Type.Enum(['private', 'public', 'allowlist'], {
  description:
    'Who begins conversations with it: who manages it (private), the users and groups of its access besides (allowlist), ' +
    'or everybody (public).',
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
  managers: names('Ids of users who change the agent, share it, deploy it and read its sessions.', USER),
  users: names('Ids of users who begin conversations when the visibility is allowlist.', USER),
  groups: names('Groups at the identity provider whose members do the same.', 'support'),
};

export const AccessChange = closed(members);
export const AccessShape = Type.Object(
  { ...members, version: count('1 at first, and one more with each change.') },
  { title: 'AgentAccess', description: 'Who may do what with an agent besides who has created it.' },
);

export function shownAccess({ access, version }: { access: Access | undefined; version: number }) {
  return {
    visibility: access?.visibility,
    managers: access?.managers ?? [],
    users: access?.users ?? [],
    groups: access?.groups ?? [],
    version,
  };
}
