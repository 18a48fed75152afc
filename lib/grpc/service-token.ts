import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { refuse } from '../errors.ts';
import { isProtocol } from '../event-types.ts';
import { LruCache } from '../lru.ts';
import type { Caller } from './contract.ts';

/**
 * The token that every call between services carries. It names the calling service and the user, and is signed with the
 * shared service secret, so the receiver can trust its content. Form: base64url(JSON) '.' base64url(HMAC-SHA256).
 */
interface ServiceToken {
  peer: string;
  caller: Caller | undefined;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

const LIFETIME_MS = 60_000;
const RENEW_BEFORE_MS = 30_000;
const MAX_CACHED = 10_000;
/** The base64url form of an HMAC-SHA256. */
const SIGNATURE_CHARACTERS = 43;
/** HTTP/2 headers are not longer. */
const MAX_CHARACTERS = 64 * 1024;
const FORM = /^[\w-]+\.[\w-]{43}$/;

function sign(secret: string, payload: string): string {
  return createHmac('sha256', secret).update(payload).digest('base64url');
}

/** Creates the issuer of one service. A token is reused for the same caller until half of its lifetime has passed. */
export function createServiceTokenIssuer(peer: string, secret: string, clock: Clock) {
  const issued = new LruCache<string, { text: string; renewAt: number }>(MAX_CACHED);

  return (caller: Caller | undefined): string => {
    const now = clock.now().getTime();
    const key = caller ? JSON.stringify(caller) : '';
    const known = issued.get(key);
    if (known && now < known.renewAt) return known.text;
    const token: ServiceToken = { peer, caller, expiresAt: now + LIFETIME_MS };
    const payload = Buffer.from(JSON.stringify(token)).toString('base64url');
    const text = `${payload}.${sign(secret, payload)}`;
    issued.set(key, { text, renewAt: now + RENEW_BEFORE_MS });
    return text;
  };
}

/** Creates a verifier. The result for a token is cached while the token is valid. */
export function createServiceTokenVerifier(secret: string, clock: Clock) {
  const verified = new LruCache<string, ServiceToken>(MAX_CACHED);

  return (text: string): ServiceToken => {
    const now = clock.now().getTime();
    const known = verified.get(text);
    const token = known ?? verify(secret, text);
    if (token.expiresAt <= now)
      throw refuse(
        'PEER_REJECTED',
        'The token of the calling service has expired. Check the clocks of the machines.',
      );
    if (!known) verified.set(text, token);
    return token;
  };
}

function verify(secret: string, text: string): ServiceToken {
  if (text.length > MAX_CHARACTERS || !FORM.test(text)) throw malformed();
  const dot = text.length - SIGNATURE_CHARACTERS - 1;
  const payload = text.slice(0, dot);
  const expected = Buffer.from(sign(secret, payload));
  const actual = Buffer.from(text.slice(dot + 1));
  if (!timingSafeEqual(actual, expected)) {
    throw refuse(
      'PEER_REJECTED',
      'The token of the calling service has an invalid signature. Check SERVICE_SECRET.',
    );
  }
  return parse(payload);
}

/** Programs in other languages create tokens, too, so a signed content can have another form. */
function parse(payload: string): ServiceToken {
  try {
    const token: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    if (isServiceToken(token)) return token;
  } catch {
    // Not JSON.
  }
  throw malformed();
}

function isServiceToken(value: unknown): value is ServiceToken {
  if (!isObject(value)) return false;
  const { peer, caller, expiresAt } = value;
  return typeof peer === 'string' && Number.isFinite(expiresAt) && (caller === undefined || isCaller(caller));
}

function isCaller(value: unknown): value is Caller {
  if (!isObject(value)) return false;
  const { userId, roles, groups, credential, address, protocol } = value;
  return (
    typeof userId === 'string' &&
    isTexts(roles) &&
    (groups === undefined || isTexts(groups)) &&
    (protocol === undefined || isProtocol(protocol)) &&
    [credential, address].every((text) => text === undefined || typeof text === 'string')
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function malformed() {
  return refuse('PEER_REJECTED', 'The token of the calling service is missing or malformed.');
}
