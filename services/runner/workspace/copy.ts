import type { Clock } from '../../../lib/clock.ts';
import { abortable } from '../../../lib/grpc/abortable.ts';
import type { Workspace } from '../../../proto/gen/ahs/files/v1/files.ts';
import { WorkspaceTooLarge } from '../sandbox/workspace-too-large.ts';
import type { ScanResult, TreeIndex, WorkspaceTree } from '../sandbox/workspace-tree.ts';
import type { ToolCallContext } from '../tool-calls/tool-call.ts';
import { applyCheckout } from './apply-checkout.ts';
import { FileDigestCache } from './file-digest-cache.ts';
import { retryTransient } from './retry-transient.ts';
import { type SavedChanges, saveChanges } from './save-changes.ts';
import { type Attachment, changeKey, type WorkspaceClient } from './workspace-client.ts';

/** The result of committing the changes in a tree. */
export interface Commit extends SavedChanges {
  /** Entries that a workspace cannot store, without those that an earlier commit already reported. */
  skipped: ScanResult['skipped'];
}

/** The first changed paths that were discarded, and whether there were more. */
export interface DiscardedChanges {
  paths: readonly string[];
  hasMore: boolean;
}

const MAX_LISTED = 20;
/** An attachment that began earlier says too little about the newest version, because the command had to wait. */
const MAX_ATTACHMENT_AGE_MS = 500;

/** The copy of a workspace in a sandbox and the version it corresponds to. Its users take turns. */
export class WorkspaceCopy {
  readonly tree: WorkspaceTree;
  readonly #workspaceId: string;
  readonly #clock: Clock;
  readonly #index: TreeIndex = new Map();
  readonly #digests = new FileDigestCache();
  /** The version in the tree; undefined when the content of the tree is not a version of the workspace. */
  #version: number | undefined;
  /** The skipped entries of the last scan: path and reason. */
  #skipped: ReadonlyMap<string, string> = new Map();

  constructor(workspaceId: string, tree: WorkspaceTree, clock: Clock) {
    this.#workspaceId = workspaceId;
    this.tree = tree;
    this.#clock = clock;
  }

  /** Updates the tree to the newest version of the workspace. `attachment` is one that has begun under the same lease. */
  update(client: WorkspaceClient, signal: AbortSignal, attachment: Attachment): Promise<void> {
    const age = this.#clock.now().getTime() - attachment.startedAt;
    let begun = age > MAX_ATTACHMENT_AGE_MS ? undefined : abortable(attachment.workspace, signal);
    return retryTransient(this.#clock, signal, () => {
      const attached = begun ?? client.attach();
      begun = undefined;
      return this.#update(client, attached);
    });
  }

  async #update(client: WorkspaceClient, attached: Promise<Workspace>): Promise<void> {
    const [{ version: newest }, exists] = await Promise.all([attached, this.#exists()]);
    if (!exists) this.#version = undefined;
    if (newest === this.#version) return;
    const have = { workspaceId: this.#workspaceId, version: this.#version };
    // An interrupted checkout leaves a tree that is no version.
    this.#version = undefined;
    const { version, isNew } = await this.#checkOut(client, have);
    if (isNew) await this.tree.updateIndex(this.#index);
    this.#version = version;
  }

  /**
   * Commits the changes in the tree as one new version of the workspace. After a failure, the tree is updated to the
   * version of the workspace before it is used again.
   */
  async commit(
    client: WorkspaceClient,
    call: Pick<ToolCallContext, 'turn' | 'toolUseId' | 'signal'>,
  ): Promise<Commit> {
    const base = this.#version ?? 0;
    this.#version = undefined;
    const { changes, skipped } = await this.#scan();
    const saved = await saveChanges(changes, {
      ...{ client, tree: this.tree, digests: this.#digests, clock: this.#clock, signal: call.signal },
      ...{ baseVersion: base, key: changeKey(call) },
    });
    // With changes of other writers in between, the next checkout fetches everything since the base.
    if (saved.conflictCount === 0) this.#version = saved.version <= base + 1 ? saved.version : base;
    return { ...saved, skipped: this.#newlySkipped(skipped) };
  }

  #newlySkipped(skipped: ScanResult['skipped']): ScanResult['skipped'] {
    const before = this.#skipped;
    this.#skipped = new Map(skipped.map(({ path, reason }) => [path, reason]));
    return skipped.filter(({ path, reason }) => before.get(path) !== reason);
  }

  /** A workspace that does not fit leaves no partial copy. */
  async #checkOut(client: WorkspaceClient, have: Parameters<WorkspaceClient['checkout']>[0]) {
    try {
      return await applyCheckout(client.checkout(have), this.tree, this.#digests);
    } catch (error) {
      if (error instanceof WorkspaceTooLarge) await this.tree.clear();
      throw error;
    }
  }

  /**
   * Removes all files, so that they use no space. Returns changed paths for users and models. The next update restores
   * the version of the workspace.
   */
  async empty(): Promise<DiscardedChanges> {
    this.#version = undefined;
    const unknown = { paths: [], hasMore: true };
    const changes = await this.tree.listChanges(this.#index, MAX_LISTED).catch(() => unknown);
    await this.tree.clear();
    return changes;
  }

  /** Drops the changes of a command that was cut off: the next update restores the version of the workspace. */
  async discard(): Promise<void> {
    const version = this.#version;
    this.#version = undefined;
    const { changes } = await this.#scan();
    if (changes.length === 0) this.#version = version;
  }

  /** Whether the tree exists. A tree that was removed must not be committed as the deletion of every file. */
  async #exists(): Promise<boolean> {
    const path = this.#digests.anyPath;
    if (path === undefined || this.#version === undefined) return true;
    try {
      for await (const _ of this.tree.read(path)) break;
      return true;
    } catch {
      return false;
    }
  }

  async #scan(): Promise<ScanResult> {
    const { changes, skipped } = await this.tree.scan(this.#index);
    return { changes: await this.#digests.actualChanges(changes, this.tree), skipped };
  }
}
