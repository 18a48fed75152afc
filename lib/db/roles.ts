/**
 * The two group roles of a schema, which cannot log in. `service` is the service itself. `viewer` is used for statements
 * on behalf of a user; row-level security restricts it to that user's rows.
 */
export type RoleKind = 'service' | 'viewer';

export const ROLE_KINDS: readonly RoleKind[] = ['service', 'viewer'];

export function roleOf(schema: string, kind: RoleKind = 'service'): string {
  return kind === 'service' ? `ahs_${schema}` : `ahs_${schema}_viewer`;
}
