import { type Refusal, refuse, refuseField } from '../../../lib/errors.ts';
import { isStorable } from '../../../lib/text.ts';
import type { Scope } from './scopes.ts';

/** A personal access token, without its value. */
export interface Token {
  /** tok_… */
  tokenId: string;
  name: string;
  scopes: Scope[];
  /** The last characters of its value. */
  hint: string;
  createdAt: Date;
  /** Undefined: never. */
  expiresAt: Date | undefined;
  /** To the minute; undefined: never. */
  lastUsedAt: Date | undefined;
}

const NAME_CHARACTERS = 100;
const MAX_DAYS = 3_650;
const DAY_MS = 24 * 60 * 60 * 1_000;

export function tokenNotFound(): Refusal {
  return refuse('TOKEN_NOT_FOUND', 'Unknown token.');
}

/** Fails with INVALID_REQUEST or INVALID_TEXT. */
export function checkTokenName(name: string): string {
  if (!isStorable(name)) {
    const message = 'must not contain a NUL character or a lone surrogate';
    throw refuse('INVALID_TEXT', `/name ${message}`, { details: [{ pointer: '/name', message }] });
  }
  if (name.trim() === '' || [...name].length > NAME_CHARACTERS) {
    throw refuseField('/name', `must be 1–${NAME_CHARACTERS} characters long and not only spaces`);
  }
  return name;
}

/** Expiry of a token that is created now; undefined: never. */
export function expiryAfter(days: number | undefined, now: Date): Date | undefined {
  if (days === undefined) return undefined;
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS) {
    throw refuseField('/expires_in_days', `must be a whole number from 1 to ${MAX_DAYS}`);
  }
  return new Date(now.getTime() + days * DAY_MS);
}

/** Tokens need a login: otherwise a stolen token could create tokens that outlive it. */
export function loginRequired(): Refusal {
  return refuse('FORBIDDEN', 'Tokens can be managed only with a login, not with a token.');
}
