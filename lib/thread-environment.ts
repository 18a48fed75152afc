import module from 'node:module';
import { dirname } from 'node:path';

/**
 * Returns the environment of a thread that gets nothing of the process's, except where Node keeps compiled code. A thread has no compile cache of its own accord, and would load the TypeScript compiler each time: 45 ms of CPU time and 5 MiB.
 */
export function threadEnvironment(): { NODE_COMPILE_CACHE?: string } {
  // A folder per version and user in the folder of the cache.
  const folder = module.getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
