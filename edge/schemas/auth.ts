import { Type } from 'typebox';
import type { Token, User, UserName } from '../../proto/gen/ahs/auth/v1/auth.ts';
import {
  closed,
  flag,
  id,
  NULL,
  nullable,
  optional,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
} from './common.ts';

const TOKEN_SCOPES = ['read', 'write', 'admin', 'mcp', 'approve'] as const;

export const UserShape = Type.Object(
  {
    user_id: id('usr', 'the user'),
    display_name: text('The display name.', { examples: ['Ada Lovelace'] }),
    email: nullable(text('The e-mail address, verified by the identity provider.'), {
      examples: ['ada@example.com'],
    }),
    roles: Type.Array(Type.Enum(['member', 'administrator']), {
      description: 'The roles of the user. The scopes of a credential can restrict them.',
      examples: [['member']],
    }),
    groups: Type.Array(Type.String(), {
      description: 'The groups of the user, as last reported by the identity provider.',
      examples: [['support']],
    }),
    enabled: flag('Whether the user is enabled. All requests of a disabled user are refused.'),
    created_at: time('The time of the first login.'),
    last_seen_at: nullable(time('The time of the last request, accurate to a minute.'), NULL),
  },
  { title: 'User', description: 'A user who has logged in.' },
);

export const UserNameShape = Type.Object(
  {
    user_id: id('usr', 'the user'),
    display_name: text('The display name.', { examples: ['Ada Lovelace'] }),
    email: nullable(text('The e-mail address, verified by the identity provider.'), {
      examples: ['ada@example.com'],
    }),
  },
  { title: 'UserName', description: 'A user as other users see them.' },
);

export function serializeUserName({ userId, displayName, email }: UserName) {
  return { user_id: userId, display_name: displayName, email: email || null };
}

export const LoginSessionShape = Type.Object({
  mode: Type.Enum(['local', 'oidc'], {
    description: '`local`: every request has administrator rights. `oidc`: requests need a login or a token.',
  }),
  authenticated: flag('Whether the request has a valid credential.'),
  user: nullable(UserShape),
  scopes: Type.Array(Type.Enum([...TOKEN_SCOPES]), {
    description: 'The scopes of the credential.',
    examples: [[...TOKEN_SCOPES]],
  }),
  login_url: nullable(text('The path at which a browser logs in; null in local mode.'), {
    examples: ['/api/v1/auth/login'],
  }),
});

export const TokenCreationBody = closed({
  name: text('A name that helps the owner recognize the token.', { minLength: 1, maxLength: 100 }),
  scopes: Type.Array(Type.Enum([...TOKEN_SCOPES]), {
    minItems: 1,
    maxItems: TOKEN_SCOPES.length,
    description:
      '`write` includes `read`. Only administrators can create tokens with `admin`. `mcp` opens the protocol endpoints and ' +
      'no other route; with it, `approve` allows decisions on approvals there.',
  }),
  expires_in_days: optional(
    Type.Integer({
      minimum: 1,
      maximum: 3_650,
      description: 'The lifetime in days. Default: the token does not expire.',
    }),
  ),
});

const tokenMembers = {
  token_id: id('tok', 'the token'),
  name: text('The name of the token.', { examples: ['Nightly build'] }),
  scopes: Type.Array(Type.Enum([...TOKEN_SCOPES]), { examples: [['read']] }),
  hint: text('The last four characters of the value.', { examples: ['x7Qa'] }),
  created_at: time('The creation time.'),
  expires_at: nullable(time('The expiry time; null for a token that does not expire.'), NULL),
  last_used_at: nullable(time('The time of the last use, accurate to a minute.'), NULL),
};

export const TokenShape = Type.Object(tokenMembers, {
  title: 'Token',
  description: 'A personal access token.',
});

export const NewTokenShape = Type.Object(
  {
    ...tokenMembers,
    value: nullable(
      text('The value. It is returned only once, in this response; null in an idempotent replay.'),
      {
        examples: ['ahs_…'],
      },
    ),
  },
  { title: 'NewToken', description: 'A new personal access token with its value.' },
);

export function serializeUser(user: User | undefined) {
  return {
    user_id: user?.userId ?? '',
    display_name: user?.displayName ?? '',
    email: user?.email || null,
    roles: user?.roles ?? [],
    groups: user?.groups ?? [],
    enabled: user?.enabled ?? false,
    created_at: serializeTime(user?.createdAt),
    last_seen_at: serializeTimeOrNull(user?.lastSeenAt),
  };
}

export function serializeToken(token: Token | undefined) {
  return {
    token_id: token?.tokenId ?? '',
    name: token?.name ?? '',
    scopes: token?.scopes ?? [],
    hint: token?.hint ?? '',
    created_at: serializeTime(token?.createdAt),
    expires_at: serializeTimeOrNull(token?.expiresAt),
    last_used_at: serializeTimeOrNull(token?.lastUsedAt),
  };
}
