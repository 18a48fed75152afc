import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of a new build. It is next to the served folder, so that it can be renamed. */
export const draftOf = (root) => join(root, 'console', '.dist-new');
const previousOf = (root) => join(root, 'console', '.dist-old');

/** Removes the folders of an incomplete build. */
export function removeDrafts(root) {
  for (const folder of [draftOf(root), previousOf(root)]) rmSync(folder, { recursive: true, force: true });
}

/** Replaces the served folder with the finished build. */
export function publishDraft(root) {
  const served = join(root, 'console', 'dist');
  if (existsSync(served)) renameSync(served, previousOf(root));
  renameSync(draftOf(root), served);
  removeDrafts(root);
}
