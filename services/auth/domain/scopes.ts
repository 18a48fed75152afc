import { refuseField } from '../../../lib/errors.ts';

/**
 * The rights that a credential can have. `mcp` opens the protocol endpoints, and `approve` allows decisions on approvals
 * there.
 */
export const SCOPES = ['read', 'write', 'admin', 'mcp', 'approve'] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of a login. */
export const LOGIN_SCOPES: readonly Scope[] = SCOPES;

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

/** Returns the scopes of a new token without duplicates. Fails with INVALID_REQUEST. */
export function checkScopes(texts: readonly string[]): Scope[] {
  if (texts.length === 0) throw refuseField('/scopes', 'must have at least one scope');
  const unknown = texts.findIndex((text) => !isScope(text));
  if (unknown >= 0) throw refuseField(`/scopes/${unknown}`, `must be one of ${SCOPES.join(', ')}`);
  return SCOPES.filter((scope) => texts.includes(scope));
}

/** Returns the known scopes of a stored token. Scopes that have been removed grant nothing. */
export function knownScopes(texts: readonly string[]): Scope[] {
  return texts.filter(isScope);
}

/** Adds the scopes that other scopes include. */
export function effectiveScopes(scopes: readonly Scope[]): Scope[] {
  return SCOPES.filter((scope) => scopes.includes(scope) || (scope === 'read' && scopes.includes('write')));
}
