/** Says that an answer is the stored one of an earlier request with the same Idempotency-Key. */
export function replayed(again: boolean): Record<string, string> {
  return again ? { 'idempotent-replayed': 'true' } : {};
}
