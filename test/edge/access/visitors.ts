import type { ErrorCode } from '../../../lib/errors.ts';
import type { Need } from './routes.ts';

/** What becomes of somebody: let in, as a member or an administrator, or a refusal. */
export type Outcome = 'member' | 'administrator' | ErrorCode;

/** What a visitor's requests are refused or let in with, by what is needed; written down by hand. */
export interface Expected {
  nothing: Outcome;
  'a signature': Outcome;
  read: Outcome;
  write: Outcome;
  admin: Outcome;
  /** A change, whatever it needs but a signature; when absent it is no different. */
  change?: Outcome;
}

const unknown: Expected = {
  nothing: 'member',
  'a signature': 'member',
  read: 'UNAUTHENTICATED',
  write: 'UNAUTHENTICATED',
  admin: 'UNAUTHENTICATED',
};

const scoped = (may: Partial<Record<Need, Outcome>>): Expected => ({
  nothing: 'member',
  'a signature': 'member',
  read: 'SCOPE_INSUFFICIENT',
  write: 'SCOPE_INSUFFICIENT',
  admin: 'SCOPE_INSUFFICIENT',
  ...may,
});

export const VISITORS = {
  nobody: unknown,
  'a garbage token': unknown,
  'a token with a slip of the pen': unknown,
  'an empty bearer': unknown,
  'a garbage cookie': { ...unknown, change: 'CSRF_REJECTED' },
  'a garbage cookie from a page of ours': unknown,
  'an expired token': { ...unknown, read: 'TOKEN_EXPIRED', write: 'TOKEN_EXPIRED', admin: 'TOKEN_EXPIRED' },
  'a revoked token': unknown,
  'a token of a disabled user': unknown,
  'a login that has ended': unknown,
  'a garbage token beside a login': unknown,

  'a member': scoped({ read: 'member', write: 'member' }),
  'another user': scoped({ read: 'member', write: 'member' }),
  'an administrator': scoped({ read: 'administrator', write: 'administrator', admin: 'administrator' }),

  'a token to read': scoped({ read: 'member' }),
  'a token to write': scoped({ read: 'member', write: 'member' }),
  'a token to administer': scoped({ admin: 'administrator' }),
  'a token for MCP': scoped({}),

  'an access token to read': scoped({ read: 'member' }),
  'an access token to write': scoped({ read: 'member', write: 'member' }),
  'an access token to administer, of a member': scoped({ admin: 'member' }),
  'an access token to administer': scoped({ admin: 'administrator' }),
  'an access token for another service': unknown,
  'an access token without a scope of ours': scoped({}),

  'a login of a member': scoped({ read: 'member', write: 'member', admin: 'member' }),
  'a login of a member without an Origin': {
    ...scoped({ read: 'member', write: 'member', admin: 'member' }),
    change: 'CSRF_REJECTED',
  },
  'a login of a member from a page of somebody else': {
    nothing: 'CSRF_REJECTED',
    'a signature': 'member',
    read: 'CSRF_REJECTED',
    write: 'CSRF_REJECTED',
    admin: 'CSRF_REJECTED',
  },
  'a login of an administrator': scoped({
    read: 'administrator',
    write: 'administrator',
    admin: 'administrator',
  }),
} as const satisfies Record<string, Expected>;

export type Visitor = keyof typeof VISITORS;
