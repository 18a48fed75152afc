import { useState } from 'react';

export interface IdempotencyKeys {
  /** Returns the key for a request with this content. Consecutive calls with equal content return the same key. */
  keyFor: (request: unknown) => string;
  /** Ends a successful request. The next request gets a new key even when its content is equal. */
  renew: () => void;
}

/** Idempotency keys: a retry reuses the key of its first attempt, so that the service executes the request once. */
export function useIdempotencyKeys(): IdempotencyKeys {
  const [keys] = useState(openKeys);
  return keys;
}

export function openKeys(): IdempotencyKeys {
  let last = { request: '', key: '' };
  return {
    keyFor(request) {
      const text = JSON.stringify(request) ?? '';
      if (last.key === '' || last.request !== text) last = { request: text, key: newIdempotencyKey() };
      return last.key;
    },
    renew() {
      last = { request: '', key: '' };
    },
  };
}

export function newIdempotencyKey(): string {
  // crypto.randomUUID is not available on pages served over plain HTTP.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
