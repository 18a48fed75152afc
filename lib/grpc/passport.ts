import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { refuse } from '../errors.ts';
import type { Caller } from './contract.ts';

/**
 * The passport that every call between services carries: which service calls, and for which user,
 * signed with the shared service secret. Without the secret nobody can make one, so a service may
 * believe what it reads there. Form: base64url(JSON) '.' base64url(HMAC-SHA256).
 */
export interface Passport {
  peer: string;
  caller: Caller | undefined;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

const LIFETIME_MS = 60_000;
const RENEW_BEFORE_MS = 30_000;
const KEPT = 10_000;

function sign(secret: string, payload: string): string {
  return createHmac('sha256', secret).update(payload).digest('base64url');
}

/** Issues passports for one service. One is used again for the same caller until it has half expired. */
export function createIssuer(peer: string, secret: string, clock: Clock) {
  const issued = new Map<string, { text: string; renewAt: number }>();

  return (caller: Caller | undefined): string => {
    const now = clock.now().getTime();
    const key = caller ? JSON.stringify(caller) : '';
    const known = issued.get(key);
    if (known && now < known.renewAt) return known.text;
    const passport: Passport = { peer, caller, expiresAt: now + LIFETIME_MS };
    const payload = Buffer.from(JSON.stringify(passport)).toString('base64url');
    const text = `${payload}.${sign(secret, payload)}`;
    if (issued.size >= KEPT) issued.clear();
    issued.set(key, { text, renewAt: now + RENEW_BEFORE_MS });
    return text;
  };
}

/** Verifies passports. The outcome for the same text is remembered while it is valid. */
export function createInspector(secret: string, clock: Clock) {
  const seen = new Map<string, Passport>();

  return (text: string): Passport => {
    const now = clock.now().getTime();
    const known = seen.get(text);
    const passport = known ?? open(secret, text);
    if (passport.expiresAt <= now)
      throw refuse('PEER_REJECTED', 'the passport of the calling service has expired');
    if (!known) {
      if (seen.size >= KEPT) seen.clear();
      seen.set(text, passport);
    }
    return passport;
  };
}

function open(secret: string, text: string): Passport {
  const [payload = '', signature = ''] = text.split('.');
  const expected = Buffer.from(sign(secret, payload));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw refuse('PEER_REJECTED', 'the calling service did not prove who it is');
  }
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Passport;
}
