import { useState } from 'react';

export interface IdempotencyKeys {
  /** For a request that asks for this: the same key as long as it is the same that is asked for. */
  keyFor: (asked: unknown) => string;
  /** It was done: the same asked once more is another act. */
  renew: () => void;
}

/** Keys by which the service tells another attempt at something, which it does once, from something else. */
export function useIdempotencyKeys(): IdempotencyKeys {
  const [keys] = useState(openKeys);
  return keys;
}

export function openKeys(): IdempotencyKeys {
  let last = { asked: '', key: '' };
  return {
    keyFor(asked) {
      const text = JSON.stringify(asked) ?? '';
      if (last.key === '' || last.asked !== text) last = { asked: text, key: newIdempotencyKey() };
      return last.key;
    },
    renew() {
      last = { asked: '', key: '' };
    },
  };
}

export function newIdempotencyKey(): string {
  // Also there where a page is not served securely, as crypto.randomUUID is not.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
