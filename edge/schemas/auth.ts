import { Type } from 'typebox';
import type { Token, User } from '../../proto/gen/ahs/auth/v1/auth.ts';
import {
  closed,
  flag,
  id,
  NULL,
  nullable,
  optional,
  shownTime,
  shownTimeOrNull,
  text,
  time,
} from './common.ts';

export const SCOPES = ['read', 'write', 'admin', 'mcp'] as const;

export const UserShape = Type.Object(
  {
    user_id: id('usr', 'the user'),
    display_name: text('What people call them.', { examples: ['Ada Lovelace'] }),
    email: nullable(text('Verified by the identity provider.'), { examples: ['ada@example.com'] }),
    roles: Type.Array(Type.Enum(['member', 'administrator']), {
      description: 'What they may do, as far as what they came with lets them.',
      examples: [['member']],
    }),
    groups: Type.Array(Type.String(), {
      description: 'Names of groups, as the identity provider has said most recently.',
      examples: [['support']],
    }),
    enabled: flag('A disabled user is refused everywhere.'),
    created_at: time('First login.'),
    last_seen_at: nullable(time('Accurate to a minute.'), NULL),
  },
  { title: 'User', description: 'Somebody who has logged in.' },
);

export const SessionShape = Type.Object({
  mode: Type.Enum(['local', 'oidc'], {
    description: 'local: whoever reaches the service is its administrator. oidc: people log in.',
  }),
  authenticated: flag('Whether the request came from somebody who is known.'),
  user: nullable(UserShape),
  scopes: Type.Array(Type.Enum([...SCOPES]), {
    description: 'What the credential lets them do.',
    examples: [['read', 'write', 'admin']],
  }),
  login_url: nullable(text('Where a browser logs in; null where nobody does.'), {
    examples: ['/api/v1/auth/login'],
  }),
});

export const TokenCreation = closed({
  name: text('For its owner.', { minLength: 1, maxLength: 100 }),
  scopes: Type.Array(Type.Enum([...SCOPES]), {
    minItems: 1,
    maxItems: SCOPES.length,
    description: '`write` includes `read`; `admin` only from an administrator.',
  }),
  expires_in_days: optional(
    Type.Integer({ minimum: 1, maximum: 3_650, description: 'Without it, it does not expire.' }),
  ),
});

const tokenMembers = {
  token_id: id('tok', 'the token'),
  name: text('For its owner.', { examples: ['Nightly build'] }),
  scopes: Type.Array(Type.Enum([...SCOPES]), { examples: [['read']] }),
  hint: text('The last four characters of its value.', { examples: ['x7Qa'] }),
  created_at: time('When it was made.'),
  expires_at: nullable(time('Null: never.'), NULL),
  last_used_at: nullable(time('Accurate to a minute.'), NULL),
};

export const TokenShape = Type.Object(tokenMembers, {
  title: 'Token',
  description: 'A personal access token.',
});

export const NewTokenShape = Type.Object(
  {
    ...tokenMembers,
    value: nullable(text('Shown in this one answer and nowhere else again; null in a replay.'), {
      examples: ['ahs_…'],
    }),
  },
  { title: 'NewToken', description: 'A personal access token and, this one time, its value.' },
);

export function shownUser(user: User | undefined) {
  return {
    user_id: user?.userId ?? '',
    display_name: user?.displayName ?? '',
    email: user?.email || null,
    roles: user?.roles ?? [],
    groups: user?.groups ?? [],
    enabled: user?.enabled ?? false,
    created_at: shownTime(user?.createdAt),
    last_seen_at: shownTimeOrNull(user?.lastSeenAt),
  };
}

export function shownToken(token: Token | undefined) {
  return {
    token_id: token?.tokenId ?? '',
    name: token?.name ?? '',
    scopes: token?.scopes ?? [],
    hint: token?.hint ?? '',
    created_at: shownTime(token?.createdAt),
    expires_at: shownTimeOrNull(token?.expiresAt),
    last_used_at: shownTimeOrNull(token?.lastUsedAt),
  };
}
