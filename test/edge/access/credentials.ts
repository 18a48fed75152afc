import type { ErrorCode } from '../../../lib/error-codes.ts';
import type { RequiredAccess } from './route-access.ts';

/** The expected result of a request: authorized as a member or an administrator, or an error code. */
type ExpectedResult = 'member' | 'administrator' | ErrorCode;

/** The expected results for a credential, by required access. Written by hand. */
export interface ExpectedResults {
  nothing: ExpectedResult;
  'a signature': ExpectedResult;
  read: ExpectedResult;
  write: ExpectedResult;
  admin: ExpectedResult;
  mcp: ExpectedResult;
  'mcp or write': ExpectedResult;
  /**
   * The result for methods that change something, if it differs. Signed requests and protocol endpoints, which ignore
   * cookies, are not affected.
   */
  change?: ExpectedResult;
}

const unknown: ExpectedResults = {
  nothing: 'member',
  'a signature': 'member',
  read: 'UNAUTHENTICATED',
  write: 'UNAUTHENTICATED',
  admin: 'UNAUTHENTICATED',
  mcp: 'UNAUTHENTICATED',
  'mcp or write': 'UNAUTHENTICATED',
};

const scoped = (may: Partial<Record<RequiredAccess, ExpectedResult>>): ExpectedResults => ({
  nothing: 'member',
  'a signature': 'member',
  read: 'SCOPE_INSUFFICIENT',
  write: 'SCOPE_INSUFFICIENT',
  admin: 'SCOPE_INSUFFICIENT',
  mcp: 'SCOPE_INSUFFICIENT',
  'mcp or write': 'SCOPE_INSUFFICIENT',
  ...may,
});

/** `write` includes `read`. */
const WRITER = { read: 'member', write: 'member', 'mcp or write': 'member' } as const;

/** A login, which protocol endpoints ignore. */
const login = (may: Partial<Record<RequiredAccess, ExpectedResult>>) =>
  scoped({ ...may, mcp: 'UNAUTHENTICATED', 'mcp or write': 'UNAUTHENTICATED' });

export const CREDENTIALS = {
  'no credential': unknown,
  'a garbage token': unknown,
  'a token with a typo': unknown,
  'an empty bearer': unknown,
  'a garbage cookie': { ...unknown, change: 'CSRF_REJECTED' },
  'a garbage cookie with the Origin of the service': unknown,
  'an expired token': {
    ...unknown,
    read: 'TOKEN_EXPIRED',
    write: 'TOKEN_EXPIRED',
    admin: 'TOKEN_EXPIRED',
    mcp: 'TOKEN_EXPIRED',
    'mcp or write': 'TOKEN_EXPIRED',
  },
  'a revoked token': unknown,
  'a token of a disabled user': unknown,
  'a login that has ended': unknown,
  'a garbage token beside a login': unknown,

  'a member': scoped(WRITER),
  'another user': scoped(WRITER),
  'an administrator': scoped({
    read: 'administrator',
    write: 'administrator',
    admin: 'administrator',
    'mcp or write': 'administrator',
  }),

  'a token to read': scoped({ read: 'member' }),
  'a token to write': scoped(WRITER),
  'a token to administer': scoped({ admin: 'administrator' }),
  'a token for protocols': scoped({ mcp: 'member', 'mcp or write': 'member' }),
  'a token to approve': scoped({}),
  'a token with an unknown scope': scoped({}),

  'an access token to read': scoped({ read: 'member' }),
  'an access token to write': scoped(WRITER),
  'an access token to administer, of a member': scoped({ admin: 'member' }),
  'an access token to administer': scoped({ admin: 'administrator' }),
  'an access token for protocols': scoped({ mcp: 'member', 'mcp or write': 'member' }),
  'an access token for another service': unknown,
  'an access token without a scope of the service': scoped({}),

  'a login of a member': login({ read: 'member', write: 'member', admin: 'member' }),
  'a login of a member without an Origin': {
    ...login({ read: 'member', write: 'member', admin: 'member' }),
    change: 'CSRF_REJECTED',
  },
  'a login of a member from another origin': {
    nothing: 'CSRF_REJECTED',
    'a signature': 'member',
    read: 'CSRF_REJECTED',
    write: 'CSRF_REJECTED',
    admin: 'CSRF_REJECTED',
    mcp: 'CSRF_REJECTED',
    'mcp or write': 'CSRF_REJECTED',
  },
  'a login of an administrator': login({
    read: 'administrator',
    write: 'administrator',
    admin: 'administrator',
  }),
} as const satisfies Record<string, ExpectedResults>;

export type CredentialName = keyof typeof CREDENTIALS;
