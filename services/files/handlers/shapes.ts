import { refuseField } from '../../../lib/errors.ts';
import type { PageRequest } from '../../../proto/gen/ahs/common/v1/common.ts';
import type { Entry, PathChange, Workspace } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Node, Placed } from '../domain/node.ts';
import type { Limits } from '../domain/outcome.ts';
import type { ChangeRow } from '../store/feed.ts';
import type { WorkspaceRow } from '../store/rows.ts';

/** A workspace as the contract shows it. */
export function workspaceShape(
  workspaceId: string,
  row: WorkspaceRow | undefined,
  { maxFiles, maxBytes }: Limits,
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

export function entryShape(path: string, node: Node): Entry {
  const { kind, size, sha256, modifiedAt, executable, target } = node;
  return { path, kind, size, sha256, modifiedAt, executable, target };
}

export const placedShape = ({ path, node }: Placed): Entry => entryShape(path, node);

export function changeShape(row: ChangeRow): PathChange {
  const { seq, kind, path, workspaceVersion, sessionId, createdAt } = row;
  const entry =
    kind === 'deleted'
      ? { path, kind: '', size: 0, sha256: '', modifiedAt: undefined, executable: false, target: '' }
      : { ...row, kind: row.entryKind };
  return { seq, kind, entry, workspaceVersion, sessionId, createdAt };
}

/** More than the API gives out at once: a runner may want to see much of a tree. */
const MOST = 1_000;

export function pageShape(page: PageRequest | undefined): PageRequest {
  const { limit = 0, cursor = '' } = page ?? {};
  if (!(limit >= 1 && limit <= MOST)) throw refuseField('/limit', `must be a number from 1 to ${MOST}`);
  return { limit, cursor };
}

/** A number of a request that counts something. */
export function countShape(value: number, pointer: string): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw refuseField(pointer, 'must be a whole number, 0 or more');
  return value;
}
