import type { FieldProblems } from '../../../lib/field-problems.ts';
import { checkClientId, checkScopes } from '../../../lib/oauth-form.ts';
import type { McpOAuth } from './mcp-server.ts';

const MAX_ISSUER = 2_048;

/**
 * Adds the problems of the settings for OAuth. A secret is sent to a named issuer alone: otherwise the MCP server could
 * name another one and receive it.
 */
export function checkOAuth(
  { clientId, scopes, issuer, hasClientSecret }: McpOAuth,
  problems: FieldProblems,
): void {
  if (clientId !== '') checkClientId('/oauth/client_id', clientId, problems);
  checkScopes('/oauth/scopes', scopes, problems);
  if (issuer !== '' && !isIssuer(issuer))
    problems.add(
      '/oauth/issuer',
      'must be a URL without user name, query and fragment that begins with https://',
    );
  if (hasClientSecret && clientId === '')
    problems.add('/oauth/client_id', 'must be present with a client_secret');
  if (hasClientSecret && issuer === '')
    problems.add('/oauth/issuer', 'must be present with a client_secret, which is sent to this issuer alone');
}

/** The outbound client decides whether http is allowed for the host. */
function isIssuer(text: string): boolean {
  if (text.length > MAX_ISSUER || !URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  const isHttp = protocol === 'https:' || protocol === 'http:';
  return isHttp && [username, password, search, hash].every((part) => part === '');
}

/** Returns the settings without empty ones; undefined if all are empty. */
export function normalizeOAuth(given: McpOAuth | undefined): McpOAuth | undefined {
  if (given === undefined) return undefined;
  const { clientId, scopes, issuer, hasClientSecret } = given;
  const isEmpty = clientId === '' && scopes.length === 0 && issuer === '' && !hasClientSecret;
  return isEmpty ? undefined : { clientId, scopes: [...new Set(scopes)], issuer, hasClientSecret };
}
