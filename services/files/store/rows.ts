import type { Node } from '../domain/node.ts';

/** The `to_version` of a current entry. */
export const CURRENT = Number.MAX_SAFE_INTEGER;

export interface WorkspaceRow {
  workspaceId: string;
  ownerId: string;
  version: number;
  oldestVersion: number;
  /** The workspaces that show through where this one has no rows of its own, the nearest first. */
  parentIds: string[];
  parentVersions: string[];
  forkedFrom: string | null;
  forkedVersion: number | null;
  files: number;
  directories: number;
  bytes: number;
  lastSeq: number;
  trimmedSeq: number;
  updatedAt: Date;
  deletedAt: Date | null;
}

export const WORKSPACE_COLUMNS = `workspace_id as "workspaceId", owner_id as "ownerId", version,
  oldest_version as "oldestVersion", parent_ids as "parentIds", parent_versions as "parentVersions",
  forked_from as "forkedFrom", forked_version as "forkedVersion", files, directories, bytes, last_seq as "lastSeq",
  trimmed_seq as "trimmedSeq", updated_at as "updatedAt", deleted_at as "deletedAt"`;

/** The workspaces and versions that make up one version of a workspace. The first layer with a row for a path wins. */
export interface WorkspaceLayers {
  ids: string[];
  versions: number[];
}

export function layersOf(row: WorkspaceRow, version = row.version): WorkspaceLayers {
  return { ids: [row.workspaceId, ...row.parentIds], versions: [version, ...row.parentVersions.map(Number)] };
}

export interface EntryRow {
  path: string;
  /** 1 for the workspace itself, 2 for its parent, and so on. */
  depth: number;
  fromVersion: number;
  kind: Node['kind'] | 'gone';
  contentId: string | null;
  size: number;
  sha256: string;
  executable: boolean;
  target: string;
  modifiedAt: Date;
}

/** The columns of a row `e`. */
export const ENTRY_COLUMNS = `e.path, e.from_version as "fromVersion", e.kind, e.content_id as "contentId", e.size, e.sha256,
  e.executable, e.target, e.modified_at as "modifiedAt"`;

export function nodeOf(row: EntryRow): Node | undefined {
  const { kind, contentId, size, sha256, executable, target, modifiedAt } = row;
  if (kind === 'gone') return undefined;
  return { kind, contentId: contentId ?? '', size, sha256, executable, target, modifiedAt };
}
