import type { McpServer } from '../../gen/index.ts';
import type { FieldProblems } from '../../parts/editor/problems.ts';

/** The settings for OAuth. The client secret is only in its field. */
export interface OAuthDraft {
  oauthIssuer: string;
  oauthClientId: string;
  /** Separated by spaces. */
  oauthScopes: string;
  /** Whether its field has a text, or had one that a failed request took. */
  clientSecret: 'none' | 'entered' | 'taken';
}

export const EMPTY_OAUTH_DRAFT: OAuthDraft = {
  oauthIssuer: '',
  oauthClientId: '',
  oauthScopes: '',
  clientSecret: 'none',
};

export const oauthDraftOf = ({ oauth }: McpServer): OAuthDraft => ({
  oauthIssuer: oauth?.issuer ?? '',
  oauthClientId: oauth?.client_id ?? '',
  oauthScopes: oauth?.scopes.join(' ') ?? '',
  clientSecret: 'none',
});

export interface OAuthBody {
  issuer?: string;
  client_id?: string;
  client_secret?: string;
  scopes?: string[];
}

/** Stands for the client secret in a body that is shown. */
const SECRET_SHOWN = '…';

/** The member `oauth` of a request, with a placeholder for a new secret. */
export function readOAuthDraft(draft: OAuthDraft, problems: FieldProblems): OAuthBody {
  const issuer = draft.oauthIssuer.trim();
  const clientId = draft.oauthClientId.trim();
  const scopes = draft.oauthScopes.split(/\s+/).filter((scope) => scope !== '');
  if (issuer !== '' && !URL.canParse(issuer)) problems['/oauth/issuer'] = 'Enter the URL of the issuer.';
  const isEntered = draft.clientSecret === 'entered';
  if (draft.clientSecret === 'taken') problems['/oauth/client_secret'] = 'Enter the secret again.';
  if (isEntered && issuer === '')
    problems['/oauth/issuer'] = 'Enter the issuer. The client secret is sent to it alone.';
  if (isEntered && clientId === '')
    problems['/oauth/client_id'] = 'Enter the client to which the secret belongs.';
  return {
    ...(issuer !== '' && { issuer }),
    ...(clientId !== '' && { client_id: clientId }),
    ...(isEntered && { client_secret: SECRET_SHOWN }),
    ...(scopes.length > 0 && { scopes }),
  };
}

/** Returns a body with the secret instead of its placeholder; without one if the secret is empty. */
export function withClientSecret<Body extends { oauth?: OAuthBody }>(body: Body, secret: string): Body {
  if (body.oauth?.client_secret === undefined) return body;
  const { client_secret: _, ...oauth } = body.oauth;
  return { ...body, oauth: { ...oauth, ...(secret !== '' && { client_secret: secret }) } };
}
