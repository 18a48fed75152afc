import type { SessionContext } from '../../../gen/index.ts';

/** Returns the used part of the context window in percent; undefined while one of the two is unknown. */
export function usedPercent({ estimated_tokens: used, window }: SessionContext): number | undefined {
  return used === null || window === null ? undefined : Math.round((100 * used) / Math.max(1, window));
}

/** Whether the next turn begins with a compaction. */
export const isAboveThreshold = ({ estimated_tokens: used, threshold_tokens: threshold }: SessionContext) =>
  used !== null && threshold !== null && used > threshold;
