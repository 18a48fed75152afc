import type { Change, Content } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { TreeChange, WorkspaceTree } from '../sandbox/tree.ts';
import type { Source } from './upload.ts';

type FileChange = Extract<TreeChange, { kind: 'file' }>;

/** One change of a workspace says about this much, and names so many paths; what is more is several changes. */
const PART_BYTES = 4 * 1024 * 1024;
const PART_PATHS = 20_000;
/** What is said of a path beside itself. */
const PATH_BYTES = 200;

/** What fits into one message between services, which is nearly always all of it, in the same order. */
export function* parts(changes: readonly TreeChange[]): Generator<TreeChange[]> {
  let part: TreeChange[] = [];
  let bytes = 0;
  for (const change of changes) {
    const size = PATH_BYTES + Buffer.byteLength(change.path);
    if (part.length === PART_PATHS || bytes + size > PART_BYTES) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(change);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

const isFile = (change: TreeChange): change is FileChange => change.kind === 'file';

/** The bytes of the files among the changes. */
export function sourcesOf(changes: readonly TreeChange[], tree: WorkspaceTree): Source[] {
  return changes.filter(isFile).map(({ path, size }) => ({ size, read: () => tree.read(path) }));
}

/** `contents` are those of the files, in their order. */
export function manifestOf(changes: readonly TreeChange[], contents: readonly Content[]): Change[] {
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
