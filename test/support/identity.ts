import type { User } from '../../proto/gen/ahs/auth/v1/auth.ts';

/** A response of the Identify RPC. Default: an administrator with all scopes. */
export function identity(overrides: Partial<User> = {}) {
  const user: User = {
    userId: `usr_${'0'.repeat(26)}`,
    displayName: 'Test User',
    roles: ['administrator'],
    enabled: true,
    email: '',
    groups: [],
    createdAt: new Date(0),
    lastSeenAt: undefined,
    ...overrides,
  };
  return { user, scopes: ['read', 'write', 'admin', 'mcp', 'approve'], credential: 'local' };
}
