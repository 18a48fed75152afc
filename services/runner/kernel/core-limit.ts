import { readFileSync } from 'node:fs';

/**
 * The option of `prlimit` against core dumps of commands. The kernel may pass the dump of a crashed program to a handler that
 * runs as root on the host. It does not when the limit is exactly one byte; a limit of zero has no effect on such handlers.
 * A hard limit of zero cannot be raised without privileges, so it stays.
 */
export function coreLimitOption(limits = readFileSync('/proc/self/limits', 'utf8')): string {
  const [, hard] = /^Max core file size +\S+ +(\S+)/m.exec(limits) ?? [];
  return hard === '0' ? '--core=0:0' : '--core=1:1';
}
