import { refuseField } from '../../../lib/errors.ts';

/** What a credential lets its user do. */
export const SCOPES = ['read', 'write', 'admin', 'mcp'] as const;
export type Scope = (typeof SCOPES)[number];

/** Of whoever has logged in with a browser. */
export const LOGIN_SCOPES: Scope[] = ['read', 'write', 'admin'];

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

/** The scopes of a new token, each once. Refused with INVALID_REQUEST. */
export function checkScopes(texts: readonly string[]): Scope[] {
  if (texts.length === 0) throw refuseField('/scopes', 'must name at least one scope');
  const unknown = texts.findIndex((text) => !isScope(text));
  if (unknown >= 0) throw refuseField(`/scopes/${unknown}`, `must be one of ${SCOPES.join(', ')}`);
  return SCOPES.filter((scope) => texts.includes(scope));
}

/** All that the scopes include. */
export function effective(scopes: readonly Scope[]): Scope[] {
  return SCOPES.filter((scope) => scopes.includes(scope) || (scope === 'read' && scopes.includes('write')));
}
