import { readFileSync } from 'node:fs';

const SOFT_LIMIT = /^Max open files +(\d+)/m;

/** Returns how many files and connections this process may open. Infinity where that is unknown: only Linux tells. */
export function maxOpenFiles(): number {
  try {
    const [, limit] = SOFT_LIMIT.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
