import { refuseField } from '../../../lib/errors.ts';
import type { PageRequest } from '../../../proto/gen/ahs/common/v1/common.ts';
import type { Entry, PathChange, Workspace } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { WorkspaceLimits } from '../domain/change-set.ts';
import type { Node, TreeEntry } from '../domain/node.ts';
import type { ChangeRow } from '../store/change-feed.ts';
import type { WorkspaceRow } from '../store/rows.ts';

/** The contract's message for a workspace. A workspace that was never changed has no row. */
export function workspaceMessage(
  workspaceId: string,
  row: WorkspaceRow | undefined,
  { maxFiles, maxBytes }: WorkspaceLimits,
): Workspace {
  return {
    workspaceId,
    version: row?.version ?? 0,
    oldestVersion: row?.oldestVersion ?? 0,
    files: row?.files ?? 0,
    bytes: row?.bytes ?? 0,
    maxFiles,
    maxBytes,
    lastSeq: row?.lastSeq ?? 0,
    updatedAt: row?.updatedAt,
  };
}

export function entryMessage(path: string, node: Node): Entry {
  const { kind, size, sha256, modifiedAt, executable, target } = node;
  return { path, kind, size, sha256, modifiedAt, executable, target };
}

export const treeEntryMessage = ({ path, node }: TreeEntry): Entry => entryMessage(path, node);

export function changeMessage(row: ChangeRow): PathChange {
  const { seq, kind, path, workspaceVersion, sessionId, createdAt } = row;
  const entry =
    kind === 'deleted'
      ? { path, kind: '', size: 0, sha256: '', modifiedAt: undefined, executable: false, target: '' }
      : { ...row, kind: row.entryKind };
  return { seq, kind, entry, workspaceVersion, sessionId, createdAt };
}

/** Larger than the API's own limit, because runners list whole trees. */
const MAX_PAGE = 1_000;

export function checkPage(page: PageRequest | undefined): PageRequest {
  const { limit = 0, cursor = '' } = page ?? {};
  if (!(limit >= 1 && limit <= MAX_PAGE))
    throw refuseField('/limit', `must be a whole number from 1 to ${MAX_PAGE}`);
  return { limit, cursor };
}

/** Returns a version, sequence number or size of a request. Refused with INVALID_REQUEST if it is not a whole number. */
export function checkCount(value: number, pointer: string): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw refuseField(pointer, 'must be a whole number, 0 or more');
  return value;
}
