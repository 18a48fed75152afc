/**
 * The files of one workspace in a sandbox. Paths are relative and separated by /. No operation follows a symbolic
 * link, because an agent may have created any.
 */
export interface WorkspaceTree {
  /** Removes everything in the tree. */
  clear(): Promise<void>;
  /**
   * Checks that a workspace of this size can be written to the tree. Throws WorkspaceTooLarge when it exceeds the limit
   * of the tree or the free space of the disk.
   */
  requireSpace(size: WorkspaceSize): Promise<void>;
  /** Removes a path and everything below it. Does nothing when the path does not exist. */
  remove(path: string): Promise<void>;
  /** Creates a directory. Replaces an entry of another kind. The parent directory must exist. */
  makeDirectory(path: string): Promise<void>;
  putSymlink(path: string, target: string): Promise<void>;
  /** Writes a file atomically. Replaces any existing entry. */
  putFile(path: string, content: AsyncIterable<Uint8Array>, attributes: FileAttributes): Promise<void>;
  /** Returns the changes since `index` was last updated, and updates it. An empty index reports everything. */
  scan(index: TreeIndex): Promise<ScanResult>;
  /** Returns up to `max` paths that differ from `index`, which stays unchanged, and whether there are more. */
  listChanges(index: TreeIndex, max: number): Promise<{ paths: string[]; hasMore: boolean }>;
  /** Updates `index` to the current state without comparing. For use after the runner itself wrote the tree. */
  updateIndex(index: TreeIndex): Promise<void>;
  /** Returns the content of a regular file. */
  read(path: string): AsyncIterable<Uint8Array>;
}

/** The files and links of a workspace, and the bytes of its files. */
export interface WorkspaceSize {
  files: number;
  bytes: number;
}

export interface FileAttributes {
  executable: boolean;
  modifiedAt: Date;
}

/** Metadata of each path, so that the next scan finds changes without reading every file. */
export type TreeIndex = Map<string, TreeIndexEntry>;

export interface TreeIndexEntry {
  kind: 'file' | 'directory' | 'symlink';
  size: number;
  executable: boolean;
  /** Change time of the inode in nanoseconds. Unlike the modification time, programs cannot set it. */
  changedNs: bigint;
  inode: bigint;
  target: string;
  /** The entry changed so recently that a later change could have the same time. It always counts as changed. */
  racy: boolean;
}

export interface ScanResult {
  /** In an order in which they can be applied: removals first, and a directory before its entries. */
  changes: TreeChange[];
  /** Entries that a workspace cannot store, with the reason in words for users and models. */
  skipped: { path: string; reason: string }[];
}

export type TreeChange =
  | { kind: 'remove'; path: string }
  | { kind: 'directory'; path: string }
  | { kind: 'symlink'; path: string; target: string }
  | { kind: 'file'; path: string; size: number; executable: boolean; modifiedAt: Date };
