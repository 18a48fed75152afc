import { ProductError, type ProductErrorKind } from '../product-error.ts';

/** The members of the library's errors that decide (`code` of @slack/web-api). */
interface VendorError {
  code?: unknown;
  data?: { error?: unknown; needed?: unknown };
  retryAfter?: unknown;
  statusCode?: unknown;
  original?: unknown;
  cause?: unknown;
  message?: unknown;
}

/** Errors of platform methods that another request can avoid (https://docs.slack.dev/reference/methods). */
const KINDS: Readonly<Record<string, ProductErrorKind>> = {
  ...kind('unauthorized', 'invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'),
  ...kind('unauthorized', 'missing_scope', 'not_allowed_token_type', 'no_permission', 'org_login_required'),
  ...kind('unauthorized', 'ekm_access_denied', 'team_access_not_granted', 'enterprise_is_restricted'),
  ...kind('unauthorized', 'access_denied', 'accesslimited', 'forbidden_team', 'invalid_app_id'),
  ...kind('rate_limited', 'ratelimited', 'rate_limited', 'message_limit_exceeded'),
  ...kind('unavailable', 'service_unavailable', 'team_added_to_org', 'request_timeout'),
  // Some aspect of the operation may have succeeded before the error.
  ...kind('ambiguous', 'fatal_error', 'internal_error'),
  ...kind('missing', 'message_not_found'),
  ...kind('gone', 'file_not_found', 'file_deleted'),
};

const EXPLANATIONS: Readonly<Record<string, string>> = {
  account_inactive: 'the app was removed from the workspace, or its user was deactivated',
  cant_update_message: 'the message is not one of the bot',
  channel_not_found: 'the channel does not exist, or the bot may not see it',
  is_archived: 'the channel is archived',
  msg_too_long: 'the text is too long',
  not_in_channel: 'the bot is not a member of the channel; invite it with /invite',
  restricted_action: 'a setting of the workspace forbids the bot to post there',
  thread_not_found: 'the thread does not exist any more',
  token_revoked: 'the token was revoked; install the app again and set the new token',
  invalid_auth: 'the token is not valid',
};

/** Nothing was sent. */
const NOT_SENT = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  'PROXY_FAILED',
]);
const DEFAULT_RETRY_MS = 30_000;
const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Maps an error of @slack/web-api. No text of a response is taken over except error codes and scopes. `creates`: a status of
 * 5xx may come after the effect, so the message is looked for.
 */
export function toProductError(error: unknown, { creates = false } = {}): ProductError {
  if (error instanceof ProductError) return error;
  const vendor: VendorError = typeof error === 'object' && error !== null ? error : {};
  switch (vendor.code) {
    case 'slack_webapi_rate_limited_error':
      return rateLimited(Number(vendor.retryAfter) * 1000);
    case 'slack_webapi_platform_error':
      return platformError(vendor.data ?? {});
    case 'slack_webapi_http_error':
      return statusError(Number(vendor.statusCode), creates);
    case 'slack_webapi_request_error':
      return connectionError(vendor.original);
    default:
      // The library has no class for a refusal without a time.
      return String(vendor.message).startsWith('Retry header')
        ? rateLimited(Number.NaN)
        : connectionError(error);
  }
}

export function statusError(status: number, creates = false): ProductError {
  if (status === 429) return rateLimited(Number.NaN);
  const kind = status >= 500 && creates ? 'ambiguous' : 'unavailable';
  return new ProductError(kind, `Slack answered with status ${status}.`);
}

/** `retryAfterMs` is not a number if Slack has named no time. */
export function rateLimited(retryAfterMs: number): ProductError {
  const known = Number.isFinite(retryAfterMs) && retryAfterMs >= 0 ? retryAfterMs : DEFAULT_RETRY_MS;
  return new ProductError('rate_limited', 'Slack limits the rate of requests.', { retryAfterMs: known });
}

export function connectionError(error: unknown): ProductError {
  const code = codesOf(error).find((one) => NOT_SENT.has(one));
  if (code === 'PROXY_FAILED') return new ProductError('unavailable', proxyMessage(error));
  if (code !== undefined) return new ProductError('unavailable', `Slack cannot be reached (${code}).`);
  return new ProductError('ambiguous', 'The connection to Slack ended without an answer.');
}

function platformError({ error, needed }: NonNullable<VendorError['data']>): ProductError {
  const code = typeof error === 'string' && CODE.test(error) ? error : undefined;
  if (code === undefined) return new ProductError('ambiguous', 'The answer of Slack has an unknown form.');
  const known = Object.hasOwn(KINDS, code) ? KINDS[code] : undefined;
  if (known === 'rate_limited') return rateLimited(Number.NaN);
  if (code === 'missing_scope') return missingScope(typeof needed === 'string' ? needed : '');
  const explanation = Object.hasOwn(EXPLANATIONS, code) ? ` (${EXPLANATIONS[code]})` : '';
  return new ProductError(known ?? 'refused', `Slack refuses the request: ${code}${explanation}.`);
}

export function missingScope(needed: string): ProductError {
  const name = /^[a-z0-9_:.,]{1,200}$/.test(needed) ? `the scope ${needed}` : 'a scope';
  return new ProductError(
    'unauthorized',
    `The app lacks ${name}. Add it under OAuth & Permissions, and install the app again.`,
  );
}

function kind(name: ProductErrorKind, ...codes: string[]): Record<string, ProductErrorKind> {
  return Object.fromEntries(codes.map((code) => [code, name]));
}

/** The codes of an error and its causes. */
function codesOf(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 5) return [];
  const { code, cause, original } = error as VendorError;
  return [String(code ?? ''), ...codesOf(cause, depth + 1), ...codesOf(original, depth + 1)];
}

function proxyMessage(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'The proxy cannot be used.';
  const { code, cause, original, message } = error as VendorError;
  return code === 'PROXY_FAILED' ? String(message) : proxyMessage(cause ?? original);
}
