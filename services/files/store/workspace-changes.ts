import {
  type Database,
  type DatabaseSession,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { type IdempotencyKey, type IdempotentAnswer, runOnce } from '../../../lib/db/idempotency.ts';
import { refuse } from '../../../lib/errors.ts';
import {
  type Conflict,
  NO_EARLIER_PARTS,
  type PlanResult,
  planChanges,
  type RequestedChange,
} from '../domain/change-planner.ts';
import {
  type ChangeSet,
  changeSetOf,
  checkQuota,
  sumOf,
  type WorkspaceLimits,
  type WorkspaceTotals,
} from '../domain/change-set.ts';
import type { TreeEntry } from '../domain/node.ts';
import { WorkspaceView } from '../domain/workspace-view.ts';
import { type UploadSummary, uploadSummaries } from './change-feed.ts';
import { writeChanges, writeEntries } from './change-writer.ts';
import { lockContents, type OwnedContents } from './contents.ts';
import { PathLoader } from './path-loader.ts';
import type { WorkspaceRow } from './rows.ts';
import { expectSession } from './unconfirmed-sessions.ts';
import { extendUploads } from './uploads.ts';
import { checkFence, type FencedLease, type LocatedWorkspace, lockWorkspace } from './workspaces.ts';

/** A request to change a workspace. */
interface WorkspaceChangeRequest {
  located: LocatedWorkspace;
  lease?: FencedLease | undefined;
  /** The version that the caller saw when it made the changes. */
  baseVersion?: number | undefined;
  /** Read one after the other, and once more for each repetition of the transaction. */
  parts: readonly RequestPart[];
  /** usr_…; empty when an agent makes the change. */
  userId: string;
  /** The change is an upload of a user. */
  upload: boolean;
  limits: WorkspaceLimits;
  now: Date;
  /** The change is rolled back when the signal aborts before its last part. */
  signal: AbortSignal;
}

/** Decodes a part of a request. Only one part is decoded at a time, so that memory does not grow with the request. */
export type RequestPart = () => DecodedPart;

interface DecodedPart {
  contentIds: string[];
  /** The requested paths, without those of sources of moves. */
  paths: string[];
  /** Builds the requested changes from the contents that they name. */
  requestedChanges: (contents: OwnedContents) => RequestedChange[];
}

export interface AppliedChange {
  workspace: WorkspaceRow;
  /** The entries at the changed paths, in the order of the changes. Empty for a request of several parts. */
  entries: TreeEntry[];
  conflicts: Conflict[];
  /** True when the change produced events for the session. */
  hasChanges: boolean;
}

const ADVANCE_WORKSPACE = statement(
  'files.advance_workspace',
  `with version as (
     insert into versions (workspace_id, version, files, directories, bytes) values ($1, $2, $3, $4, $5)
   )
   update workspaces set version = $2, files = $3, directories = $4, bytes = $5, last_seq = $6, updated_at = $7
   where workspace_id = $1`,
);

/**
 * The delivery becomes due shortly after the change: the process that made the change delivers its events right away,
 * and the periodic task only takes over when that fails.
 */
const SCHEDULE_DELIVERY = statement(
  'files.owe_delivery',
  `insert into deliveries as pending (workspace_id, session_id, told_seq, due_at) values ($1, $2, $3, $4)
   on conflict (workspace_id, session_id) do update set due_at = least(pending.due_at, excluded.due_at)`,
);
const DELIVERY_DELAY_MS = 2_000;

export type WorkspaceChanges = ReturnType<typeof createWorkspaceChanges>;

export function createWorkspaceChanges(db: Database) {
  return {
    /** Changes a workspace, at most once per key. `encodeAnswer` encodes the answer, which later calls with the key get. */
    change(
      request: WorkspaceChangeRequest,
      key: IdempotencyKey,
      encodeAnswer: (applied: AppliedChange) => Uint8Array,
      options?: WriteOptions,
    ): Promise<IdempotentAnswer> {
      return runOnce(db, key, async (tx) => encodeAnswer(await applyChanges(tx, request)), options);
    },

    /**
     * Writes uploads into the workspace of a session that is about to be created and must exist at `checkAt`. The summary is
     * undefined when nothing has changed.
     */
    place(
      request: WorkspaceChangeRequest,
      key: IdempotencyKey,
      { uploadIds, checkAt }: { uploadIds: readonly string[]; checkAt: Date },
      encodeAnswer: (upload: UploadSummary | undefined) => Uint8Array,
      options?: WriteOptions,
    ): Promise<IdempotentAnswer> {
      const { now, located } = request;
      return runOnce(
        db,
        key,
        async (tx) => {
          await extendUploads(tx, uploadIds, now);
          await expectSession(tx, located.sessionId, checkAt);
          const { workspace, hasChanges } = await applyChanges(tx, request);
          const versions = hasChanges ? [workspace.version] : [];
          const [upload] = await uploadSummaries(tx, located.workspaceId, versions);
          return encodeAnswer(upload);
        },
        options,
      );
    },
  };
}

async function applyChanges(tx: DatabaseSession, request: WorkspaceChangeRequest): Promise<AppliedChange> {
  const { located, lease, baseVersion, parts, now } = request;
  if (lease) await checkFence(tx, located.workspaceId, lease);
  const before = await lockWorkspace(tx, located, now);
  if (baseVersion !== undefined && baseVersion > before.version) {
    throw refuse(
      'INVALID_REQUEST',
      `The base version ${baseVersion} does not exist yet: the workspace is at version ${before.version}.`,
    );
  }
  const applying = new ApplyingChange(tx, request, before);
  for (const [index, part] of parts.entries()) await applying.apply(part(), index === parts.length - 1);
  return applying.finish();
}

/** A change of a workspace whose parts are planned and written one after the other, all as the same version. */
class ApplyingChange {
  readonly #tx: DatabaseSession;
  readonly #request: WorkspaceChangeRequest;
  readonly #before: WorkspaceRow;
  readonly #version: number;
  readonly #conflicts: Conflict[] = [];
  #entries: TreeEntry[] = [];
  #earlier = NO_EARLIER_PARTS;
  #delta: WorkspaceTotals = { files: 0, directories: 0, bytes: 0 };
  #lastSeq: number;
  #isUnchanged = true;

  constructor(tx: DatabaseSession, request: WorkspaceChangeRequest, before: WorkspaceRow) {
    this.#tx = tx;
    this.#request = request;
    this.#before = before;
    this.#version = before.version + 1;
    this.#lastSeq = before.lastSeq;
  }

  async apply(part: DecodedPart, isLast: boolean): Promise<void> {
    const { located, parts, limits, signal } = this.#request;
    if (signal.aborted) throw refuse('CANCELLED', 'The caller disconnected before the response.');
    const contents = await lockContents(this.#tx, located.ownerId, part.contentIds);
    const loader = new PathLoader(this.#tx, this.#before, this.#request.baseVersion !== undefined);
    const { view, result } = await this.#plan(part.requestedChanges(contents), loader);
    if (parts.length === 1) this.#entries = result.entries;
    this.#conflicts.push(...result.conflicts);
    this.#earlier = result.earlier;
    const changeSet = changeSetOf(view);
    this.#delta = sumOf(this.#delta, changeSet.delta);
    // A later part may shrink the workspace, so only the last one decides.
    if (isLast) checkQuota(this.#before, this.#delta, limits);
    await this.#write(changeSet, loader.insertedEarlier);
  }

  async #plan(
    requested: readonly RequestedChange[],
    loader: PathLoader,
  ): Promise<{ view: WorkspaceView; result: PlanResult }> {
    const { baseVersion, now, parts } = this.#request;
    const options = {
      base: baseVersion,
      now,
      requestedPaths: () => requestedPathsOf(parts),
      earlier: this.#earlier,
    };
    for (;;) {
      const view = new WorkspaceView(loader.loaded, loader.trees);
      const result = planChanges(view, requested, options);
      if (result) return { view, result };
      await loader.load(view.missing);
    }
  }

  async #write(changeSet: ChangeSet, insertedEarlier: ReadonlySet<string>): Promise<void> {
    if (changeSet.closedPaths.length === 0 && changeSet.rows.length === 0) return;
    this.#isUnchanged = false;
    const { located, userId, upload, now } = this.#request;
    const newVersion = { ...located, version: this.#version, userId, upload, now };
    await writeEntries(this.#tx, newVersion, changeSet, insertedEarlier);
    await writeChanges(this.#tx, newVersion, changeSet.changes, this.#lastSeq);
    this.#lastSeq += changeSet.changes.length;
  }

  async finish(): Promise<AppliedChange> {
    const { located, now } = this.#request;
    const { workspaceId, sessionId } = located;
    const [before, entries, conflicts] = [this.#before, this.#entries, this.#conflicts];
    if (this.#isUnchanged) return { workspace: before, entries, conflicts, hasChanges: false };
    const hasChanges = this.#lastSeq > before.lastSeq;
    if (sessionId && hasChanges) {
      const due = new Date(now.getTime() + DELIVERY_DELAY_MS);
      await this.#tx.change(SCHEDULE_DELIVERY, [workspaceId, sessionId, before.lastSeq, due]);
    }
    const totals = sumOf(before, this.#delta);
    const { files, directories, bytes } = totals;
    const [version, lastSeq] = [this.#version, this.#lastSeq];
    await this.#tx.change(ADVANCE_WORKSPACE, [workspaceId, version, files, directories, bytes, lastSeq, now]);
    const workspace = { ...before, ...totals, version, lastSeq, updatedAt: now };
    return { workspace, entries, conflicts, hasChanges };
  }
}

function* requestedPathsOf(parts: readonly RequestPart[]): Generator<string> {
  for (const part of parts) yield* part().paths;
}
