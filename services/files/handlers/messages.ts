import { refuseField } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
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

const FIRST_PAGE: PageRequest = { limit: 50, cursor: '' };
const MAX_PAGE = 100;
/** Runners list whole trees. */
const MAX_RUNNER_PAGE = 1_000;

/** Default: the first page. Refused with INVALID_REQUEST if the limit is out of range. */
export function checkPage(page: PageRequest = FIRST_PAGE, { peer }: Pick<Call, 'peer'>): PageRequest {
  const max = peer === 'runner' ? MAX_RUNNER_PAGE : MAX_PAGE;
  if (page.limit < 1 || page.limit > max) throw refuseField('/limit', `must be from 1 to ${max}`);
  return page;
}

/** Returns a version, sequence number or size of a request. Refused with INVALID_REQUEST if it is not a whole number. */
export function checkCount(value: number, pointer: string): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw refuseField(pointer, 'must be a whole number, 0 or more');
  return value;
}
