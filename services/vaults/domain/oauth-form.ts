import type { FieldProblems } from '../../../lib/field-problems.ts';
import { checkClientId, checkScopes } from '../../../lib/oauth-form.ts';
import { type BindingRules, checkServerUrl } from './binding.ts';
import type { OAuthMembers } from './oauth.ts';

/** Adds the problems of the public members of the types oauth2 and oauth2_client. */
export function checkOAuthMembers(
  { tokenEndpoint, clientId, scopes, resource }: OAuthMembers,
  rules: BindingRules,
  problems: FieldProblems,
): void {
  checkServerUrl('/token_endpoint', tokenEndpoint, rules, problems);
  if (resource !== '' && (!URL.canParse(resource) || resource.includes('#')))
    problems.add('/resource', 'must be a URL without a fragment');
  checkClientId('/client_id', clientId, problems);
  checkScopes('/scopes', scopes, problems);
}
