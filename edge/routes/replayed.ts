/** The header that marks a response as the stored one of an earlier request with the same Idempotency-Key. */
export function replayed(isReplay: boolean): Record<string, string> {
  return isReplay ? { 'idempotent-replayed': 'true' } : {};
}
