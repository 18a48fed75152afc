import { refuse } from '../../../lib/errors.ts';

/** Room comes when bytes are erased, which nobody can foretell; to look more often helps nobody. */
const LOOK_AGAIN_SECONDS = 60;

/** Refused with QUOTA_EXCEEDED when an owner would have more than they may. */
export function checkUsage(bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return;
  throw refuse(
    'QUOTA_EXCEEDED',
    `${bytes} bytes would be kept for you, former versions and what is not erased yet included, and you may have ${maxBytes}`,
    { retryAfterSeconds: LOOK_AGAIN_SECONDS },
  );
}
