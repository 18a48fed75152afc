import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Where a build writes: beside what is served, so that it can be moved. */
export const draftOf = (root) => join(root, 'console', '.dist-new');
const formerOf = (root) => join(root, 'console', '.dist-old');

/** Takes away what a build has left that did not come to its end. */
export function discard(root) {
  for (const folder of [draftOf(root), formerOf(root)]) rmSync(folder, { recursive: true, force: true });
}

/** Has a finished build served, all of it at once. */
export function putInPlace(root) {
  const served = join(root, 'console', 'dist');
  if (existsSync(served)) renameSync(served, formerOf(root));
  renameSync(draftOf(root), served);
  discard(root);
}
