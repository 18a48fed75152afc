/**
 * Who may do what in a schema. Privileges are held by two roles that nobody logs in as: the service itself, and the
 * users it reads and changes something for, whom row-level security shows what is theirs.
 */
export type RoleKind = 'service' | 'viewer';

export const ROLE_KINDS: readonly RoleKind[] = ['service', 'viewer'];

export function roleOf(schema: string, kind: RoleKind = 'service'): string {
  return kind === 'service' ? `ahs_${schema}` : `ahs_${schema}_viewer`;
}
