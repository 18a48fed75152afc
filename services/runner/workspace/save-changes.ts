import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';
import { withSmallHeap } from '../../../lib/garbage-collection.ts';
import type { Change, Conflict } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { TreeChange, WorkspaceTree } from '../sandbox/workspace-tree.ts';
import { ToolError } from '../tool-calls/tool-error.ts';
import type { FileDigestCache } from './file-digest-cache.ts';
import { contentSources, encodePart, takePart, workspaceChanges } from './manifest.ts';
import { isTransient, retryTransient } from './retry-transient.ts';
import type { WorkspaceClient } from './workspace-client.ts';

export interface SavedChanges {
  /** The version of the workspace that contains the changes. */
  version: number;
  /** At most 1,000 of a large change. */
  conflicts: Conflict[];
  conflictCount: number;
}

interface SaveOptions {
  client: WorkspaceClient;
  tree: WorkspaceTree;
  /** Receives the digests of the saved files. They are wrong after a failure. */
  digests: FileDigestCache;
  clock: Clock;
  signal: AbortSignal;
  baseVersion: number;
  /** The idempotency key; see changeKey. */
  key: string;
}

/** Changes must not be lost while the files service restarts, which takes long on a busy machine. */
const SAVE_RETRY_MS = 60_000;

/** The answer to a change was lost. The change may have been saved, completely or not at all. */
export class UnknownSaveError extends ToolError {}

/**
 * Uploads the contents of the changed files and saves all changes as one version of the workspace, or none of them.
 * Empties `changes`. Rejects with UnknownSaveError when no attempt got an answer.
 */
export async function saveChanges(changes: TreeChange[], options: SaveOptions): Promise<SavedChanges> {
  const { client, clock, signal, baseVersion, key } = options;
  const count = changes.length;
  if (count === 0) return { version: baseVersion, conflicts: [], conflictCount: 0 };
  const change = { baseVersion, key };
  const attempt = <Answer>(operation: () => Promise<Answer>) =>
    retryTransient(clock, signal, operation, SAVE_RETRY_MS).catch((error: unknown) => {
      throw isTransient(error) || isCancelled(error)
        ? new UnknownSaveError(messageOf(error), { cause: error })
        : error;
    });
  const first = takePart(changes);
  if (first.length === count) {
    const prepared = await uploadPart(first, options);
    const { workspace, conflicts } = await attempt(() => client.change(prepared, change));
    return { version: workspace?.version ?? baseVersion, conflicts, conflictCount: conflicts.length };
  }
  return withSmallHeap(count, async () => {
    const encoded: Buffer[] = [];
    for (let part = first; part.length > 0; part = takePart(changes))
      encoded.push(encodePart(await uploadPart(part, options)));
    const { workspace, conflicts, conflictCount } = await attempt(() => client.commit(encoded, change));
    return { version: workspace?.version ?? baseVersion, conflicts, conflictCount };
  });
}

/** Uploads the contents of a part. Returns its changes with their ids. */
async function uploadPart(
  part: readonly TreeChange[],
  { client, tree, digests, clock, signal }: SaveOptions,
): Promise<Change[]> {
  const sources = contentSources(part, tree);
  const contents = sources.length > 0 ? await retryTransient(clock, signal, () => client.write(sources)) : [];
  digests.recordCommit(part, contents);
  return workspaceChanges(part, contents);
}

/** The caller gave up before the answer. */
const isCancelled = (error: unknown) => error instanceof Refusal && error.code === 'CANCELLED';

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
