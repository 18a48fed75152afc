import { sign } from 'node:crypto';
import { APICallError } from '@ai-sdk/provider';
import type { Clock } from '../../../lib/clock.ts';
import { createFetch } from './fetch.ts';
import type { ServiceAccount } from './optional-provider-settings.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const LIFETIME_SECONDS = 3_600;
/** A token is renewed this long before it expires, so that no request is sent with an expired one. */
const MARGIN_MS = 300_000;
const TIMEOUT_MS = 10_000;

/**
 * Creates a source of access tokens of a service account (https://developers.google.com/identity/protocols/oauth2/service-account).
 * Requests share a token until five minutes before its end. Rejects with an APICallError: 401 for a refused account, the
 * status of the server for other answers, and without a status when it cannot be reached.
 */
export function createTokenSource(account: ServiceAccount, clock: Clock): () => Promise<string> {
  let current: { token: Promise<string>; renewAt: number } | undefined;
  return () => {
    const now = clock.now().getTime();
    if (current && now < current.renewAt) return current.token;
    const requested = requestToken(account, now);
    const token = requested.then(({ accessToken }) => accessToken);
    // Requests that come meanwhile wait for the same token.
    const entry = { token, renewAt: Number.POSITIVE_INFINITY };
    current = entry;
    requested.then(
      ({ lifetimeMs }) => {
        entry.renewAt = now + lifetimeMs - MARGIN_MS;
      },
      () => {
        if (current === entry) current = undefined;
      },
    );
    return token;
  };
}

async function requestToken(
  { tokenUrl, ...account }: ServiceAccount,
  now: number,
): Promise<{ accessToken: string; lifetimeMs: number }> {
  const failure = (message: string, statusCode?: number, cause?: unknown) =>
    new APICallError({ message, url: tokenUrl, requestBodyValues: {}, statusCode, cause });
  const assertion = signedAssertion(account, tokenUrl, Math.floor(now / 1_000));
  let response: Response;
  try {
    response = await createFetch(tokenUrl)(tokenUrl, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (cause) {
    throw failure('The token server is unreachable.', undefined, cause);
  }
  if (!response.ok) {
    await response.body?.cancel();
    const isRefused = response.status >= 400 && response.status < 500 && response.status !== 429;
    throw failure('The token server refuses the service account.', isRefused ? 401 : response.status);
  }
  const { access_token: accessToken, expires_in: seconds } = await tokenOf(response);
  if (typeof accessToken !== 'string' || accessToken === '')
    throw failure('The answer of the token server has no token.', 502);
  const lifetime = typeof seconds === 'number' && seconds > 0 ? seconds : LIFETIME_SECONDS;
  return { accessToken, lifetimeMs: lifetime * 1_000 };
}

async function tokenOf(response: Response): Promise<Record<string, unknown>> {
  const answer: unknown = await response.json().catch(() => undefined);
  return typeof answer === 'object' && answer !== null ? { ...answer } : {};
}

/** A JSON Web Token that the key of the account signs. */
function signedAssertion(
  { clientEmail, privateKey, keyId }: Omit<ServiceAccount, 'tokenUrl'>,
  audience: string,
  seconds: number,
): string {
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) };
  const exp = seconds + LIFETIME_SECONDS;
  const claims = { iss: clientEmail, scope: SCOPE, aud: audience, iat: seconds, exp };
  const input = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${input}.${sign('RSA-SHA256', Buffer.from(input), privateKey).toString('base64url')}`;
}
