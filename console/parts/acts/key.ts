/** An Idempotency-Key: the same request sent again with it is done once. */
export function newKey(): string {
  // Also there where a page is not served securely, as crypto.randomUUID is not.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
