import type { Clock } from '../../../../lib/clock.ts';
import type { Json } from './objects.ts';
import { signatureHeaders } from './signature.ts';
import type { Attempt, AttemptResult, PayloadKind, Transport } from './transport.ts';
import type { SlackApp } from './workspace.ts';

/** Slack follows this many redirects. */
const MAX_REDIRECTS = 2;

export type RequestUrls = Record<PayloadKind, string>;

export interface RequestUrlOptions {
  app: SlackApp;
  clock: Clock;
  urls: RequestUrls;
  timeoutMs: number;
}

/** Sends signed requests to the request URLs of the app. */
export function createRequestUrlTransport({ app, clock, urls, timeoutMs }: RequestUrlOptions): Transport {
  return {
    name: 'http',
    async send({ kind, payload, retryNum, retryReason }: Attempt): Promise<AttemptResult> {
      const { type, body } = encode(kind, payload);
      const headers = {
        'content-type': type,
        'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
        accept: '*/*',
        ...signatureHeaders(app.signingSecret, body, clock.now()),
        ...(retryNum > 0 && { 'x-slack-retry-num': String(retryNum), 'x-slack-retry-reason': retryReason }),
      };
      return post(urls[kind], headers, body, timeoutMs);
    },
  };
}

/** Events are JSON, interactions are a form with a JSON member, commands are a form. */
function encode(kind: PayloadKind, payload: Json): { type: string; body: string } {
  if (kind === 'events_api') return { type: 'application/json', body: JSON.stringify(payload) };
  const form: Record<string, string> =
    kind === 'interactive' ? { payload: JSON.stringify(payload) } : (payload as Record<string, string>);
  return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(form).toString() };
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  timeoutMs: number,
): Promise<AttemptResult> {
  const signal = AbortSignal.timeout(timeoutMs);
  let target = url;
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const response = await fetch(target, { method: 'POST', headers, body, signal, redirect: 'manual' });
      const text = await response.text();
      const location = response.headers.get('location');
      if (response.status >= 200 && response.status < 300) return { ok: true, response: text };
      if (response.status < 300 || response.status > 399 || !location) {
        const isFinal = response.headers.get('x-slack-no-retry') === '1';
        return { ok: false, reason: 'http_error', status: response.status, isFinal };
      }
      target = new URL(location, target).href;
    }
    return { ok: false, reason: 'too_many_redirects' };
  } catch {
    return { ok: false, reason: signal.aborted ? 'http_timeout' : 'connection_failed' };
  }
}

/** Verifies a request URL as the app settings do. Returns whether the response has the challenge. */
export async function verifyRequestUrl(
  { app, clock, urls, timeoutMs }: RequestUrlOptions,
  challenge: string,
): Promise<boolean> {
  const body = JSON.stringify({ token: app.verificationToken, challenge, type: 'url_verification' });
  const headers = {
    'content-type': 'application/json',
    ...signatureHeaders(app.signingSecret, body, clock.now()),
  };
  const result = await post(urls.events_api, headers, body, timeoutMs);
  if (!result.ok) return false;
  const { response } = result;
  if (response === challenge || response === `challenge=${challenge}`) return true;
  try {
    return JSON.parse(response).challenge === challenge;
  } catch {
    return false;
  }
}
