import { type Change, ChangePart, type Content } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { TreeChange, WorkspaceTree } from '../sandbox/workspace-tree.ts';
import type { ContentSource } from './upload.ts';

type FileChange = Extract<TreeChange, { kind: 'file' }>;

/** Limits of one part of a change. The files service plans one part at a time. */
const PART_BYTES = 1024 * 1024;
const PART_PATHS = 1_000;
/** Size estimate of a change without its path. */
const CHANGE_BYTES = 200;

/**
 * Removes the first changes from the list, as many as fit into one part, and returns them. The list is nearly always
 * one part. Of a long list, this frees the memory of the parts that are done.
 */
export function takePart(changes: TreeChange[]): TreeChange[] {
  let count = 0;
  let bytes = 0;
  for (const { path } of changes) {
    bytes += CHANGE_BYTES + Buffer.byteLength(path);
    if (count === PART_PATHS || (count > 0 && bytes > PART_BYTES)) break;
    count++;
  }
  return changes.splice(0, count);
}

const isFile = (change: TreeChange): change is FileChange => change.kind === 'file';

/** The contents of the files among the changes, in order. */
export function contentSources(changes: readonly TreeChange[], tree: WorkspaceTree): ContentSource[] {
  return changes.filter(isFile).map(({ path, size }) => ({ size, read: () => tree.read(path) }));
}

/** Encodes a part of a change for CommitChanges. */
export function encodePart(changes: Change[]): Buffer {
  return Buffer.from(ChangePart.encode({ changes }).finish());
}

/** Converts tree changes to the changes of a request. `contents` are the contents of the files, in order. */
export function workspaceChanges(changes: readonly TreeChange[], contents: readonly Content[]): Change[] {
  let files = 0;
  return changes.map((change): Change => {
    const { path } = change;
    if (change.kind === 'remove') return { kind: { $case: 'remove', value: { path, ifExists: true } } };
    if (change.kind === 'directory') return { kind: { $case: 'makeDirectory', value: { path } } };
    if (change.kind === 'symlink')
      return { kind: { $case: 'putSymlink', value: { path, target: change.target } } };
    const contentId = contents[files++]?.contentId ?? '';
    const { executable, modifiedAt } = change;
    return { kind: { $case: 'putFile', value: { path, contentId, executable, modifiedAt } } };
  });
}
