import type { User } from '../../proto/gen/ahs/auth/v1/auth.ts';

/** What auth answers about somebody, an administrator with all rights unless told otherwise. */
export function identity(overrides: Partial<User> = {}) {
  const user: User = {
    userId: `usr_${'0'.repeat(26)}`,
    displayName: 'Somebody',
    roles: ['administrator'],
    enabled: true,
    email: '',
    groups: [],
    createdAt: new Date(0),
    lastSeenAt: undefined,
    ...overrides,
  };
  return { user, scopes: ['read', 'write', 'admin', 'mcp'], credential: 'local' };
}
