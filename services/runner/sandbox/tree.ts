/**
 * The files of one workspace in a sandbox. Paths are relative, with / between their parts. Whoever writes or reads
 * here never follows a symlink: an agent may have planted any.
 */
export interface WorkspaceTree {
  /** Removes everything in it. */
  clear(): Promise<void>;
  /** Removes a path and everything below it; nothing happens when it is not there. */
  remove(path: string): Promise<void>;
  /** Makes a directory, replacing what else stands there; the directories above it are there. */
  makeDirectory(path: string): Promise<void>;
  putSymlink(path: string, target: string): Promise<void>;
  /** Writes a file, replacing what stands there; it appears whole. */
  putFile(path: string, content: AsyncIterable<Uint8Array>, about: FileFacts): Promise<void>;
  /** What has changed since `seen`, which becomes what is there now. The first scan is told an empty one. */
  scan(seen: TreeIndex): Promise<Scan>;
  /** Remembers what is there now without looking for what changed, once it was written here. */
  note(seen: TreeIndex): Promise<void>;
  /** Of a regular file. */
  read(path: string): AsyncIterable<Uint8Array>;
}

export interface FileFacts {
  executable: boolean;
  modifiedAt: Date;
}

/** What a scan remembers of each path, so that the next one sees what is new without reading every file. */
export type TreeIndex = Map<string, Seen>;

export interface Seen {
  kind: 'file' | 'directory' | 'symlink';
  size: number;
  executable: boolean;
  /** Of the inode, in nanoseconds: unlike the time of modification, no program can set it. */
  changedNs: bigint;
  inode: bigint;
  target: string;
  /** Changed so recently when it was seen that it may change again under the same time: it is always read. */
  racy: boolean;
}

export interface Scan {
  /** In an order in which they can be carried out: removals first, and a directory before what is in it. */
  changes: TreeChange[];
  /** What cannot be kept, and why: for people and models. */
  skipped: { path: string; reason: string }[];
}

export type TreeChange =
  | { kind: 'remove'; path: string }
  | { kind: 'directory'; path: string }
  | { kind: 'symlink'; path: string; target: string }
  | { kind: 'file'; path: string; size: number; executable: boolean; modifiedAt: Date };
