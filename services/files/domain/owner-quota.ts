import { refuse } from '../../../lib/errors.ts';

/** Space is freed when the garbage collection erases bytes. That time is not known, so clients should not poll faster. */
const RETRY_AFTER_SECONDS = 60;

/** Refused with QUOTA_EXCEEDED when the stored bytes of an owner exceed `maxBytes`. */
export function checkOwnerQuota(bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return;
  throw refuse(
    'QUOTA_EXCEEDED',
    `Your files would take ${bytes} bytes, including former versions and deleted files that are not erased yet; ` +
      `your limit is ${maxBytes} bytes.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
