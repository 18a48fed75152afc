import { createHash } from 'node:crypto';
import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { Entry, FilesServiceDefinition, Place } from '../../../proto/gen/ahs/files/v1/files.ts';

/** What the fake service is told to do wrong, and what it has noticed. */
export interface Faults {
  /** Refuses every place, as one that cannot be changed. */
  frozen?: boolean;
  /** Takes no message before it is over. */
  pause?: Promise<void>;
  /** Fails after so many bytes of a download. */
  breakAfter?: number;
  /** Claims to have kept this many bytes less. */
  forgetful?: number;
}

export interface FakeFiles {
  handlers: Partial<Handlers<FilesServiceDefinition>>;
  faults: Faults;
  /** Bytes that have arrived, kept or not. */
  received(): number;
  /** Calls that took a stream and are not over. */
  writing(): number;
  /** Downloads that are not over. */
  reading(): number;
  /** Puts something into the first workspace that nobody has uploaded. A file of it is made of zeros. */
  pretend(path: string, size: number, kind?: string): void;
  /** Versions of all workspaces together. */
  versions(): number;
}

interface Tree {
  version: number;
  files: Map<string, { entry: Entry; bytes: Buffer }>;
}

const MAX_FILE_BYTES = 3 * 1024 * 1024;
export const PIECE = 100_000;

/** The files service as far as the edge can tell, in memory. `known` are the ids of what has a workspace. */
export function createFakeFiles(known: ReadonlySet<string>): FakeFiles {
  const faults: Faults = {};
  const trees = new Map<string, Tree>();
  const contents = new Map<string, Buffer>();
  let received = 0;
  let writing = 0;
  let reading = 0;
  let versions = 0;

  function treeOf(place: Place | undefined): Tree {
    const id = place?.of?.value ?? '';
    if (!known.has(id))
      throw refuse(place?.of?.$case === 'sessionId' ? 'SESSION_NOT_FOUND' : 'ASSISTANT_NOT_FOUND', 'no such');
    const tree = trees.get(id) ?? { version: 0, files: new Map() };
    trees.set(id, tree);
    return tree;
  }
  function fileOf(place: Place | undefined, path: string) {
    const file = treeOf(place).files.get(path);
    if (!file) throw refuse('FILE_NOT_FOUND', 'there is no such file');
    return file;
  }
  async function* cut(bytes: Buffer) {
    reading++;
    try {
      for (let at = 0; at < bytes.length; at += PIECE) {
        if (faults.breakAfter !== undefined && at >= faults.breakAfter)
          throw refuse('CONTENT_DAMAGED', 'not what was written');
        yield { bytes: bytes.subarray(at, at + PIECE) };
      }
    } finally {
      reading--;
    }
  }

  const handlers: Partial<Handlers<FilesServiceDefinition>> = {
    async writeContents(messages) {
      writing++;
      try {
        const kept: Buffer[][] = [];
        for await (const { kind } of messages) {
          if (kind?.$case === 'place') {
            treeOf(kind.value.place);
            if (faults.frozen) throw refuse('SESSION_ARCHIVED', 'the session is archived');
          } else if (kind?.$case === 'begin') {
            if ((kind.value.size ?? 0) > MAX_FILE_BYTES) throw refuse('FILE_TOO_LARGE', 'too long');
            kept.push([]);
          } else if (kind?.$case === 'bytes') {
            received += kind.value.length;
            kept.at(-1)?.push(kind.value);
            const length = (kept.at(-1) ?? []).reduce((sum, bytes) => sum + bytes.length, 0);
            if (length > MAX_FILE_BYTES) throw refuse('FILE_TOO_LARGE', 'too long');
            await faults.pause;
          }
        }
        return {
          contents: kept.map((pieces) => {
            const bytes = Buffer.concat(pieces);
            const contentId = `cnt_${contents.size}`;
            contents.set(contentId, bytes);
            return { contentId, size: bytes.length - (faults.forgetful ?? 0), sha256: sha256(bytes) };
          }),
        };
      } finally {
        writing--;
      }
    },
    async changeWorkspace({ place, changes }) {
      const tree = treeOf(place);
      const entries: Entry[] = [];
      for (const { kind } of changes) {
        if (kind?.$case === 'putFile') {
          const bytes = contents.get(kind.value.contentId) ?? Buffer.alloc(0);
          const entry = entryOf(kind.value.path, bytes);
          tree.files.set(entry.path, { entry, bytes });
          entries.push(entry);
        }
      }
      tree.version++;
      versions++;
      return { workspace: workspaceOf(tree.version), entries, conflicts: [], replayed: false };
    },
    async getEntry({ place, path }) {
      return { entry: fileOf(place, path).entry, version: treeOf(place).version };
    },
    async *readContent({ place, path, offset, length }) {
      const { bytes } = fileOf(place, path);
      yield* cut(bytes.subarray(offset, length === undefined ? undefined : offset + length));
    },
    async *readArchive({ place, maxBytes }) {
      const whole = Buffer.concat([...treeOf(place).files.values()].map(({ bytes }) => bytes));
      if (whole.length > maxBytes) throw refuse('FILE_TOO_LARGE', 'too long');
      yield* cut(whole);
    },
  };
  return {
    handlers,
    faults,
    received: () => received,
    writing: () => writing,
    reading: () => reading,
    pretend(path, size, kind = 'file') {
      const [id = ''] = known;
      const tree = treeOf({ of: { $case: 'sessionId', value: id } });
      const bytes = Buffer.alloc(size);
      tree.files.set(path, { entry: { ...entryOf(path, bytes), kind }, bytes });
    },
    versions: () => versions,
  };
}

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

function entryOf(path: string, bytes: Buffer): Entry {
  return {
    path,
    kind: 'file',
    size: bytes.length,
    sha256: sha256(bytes),
    modifiedAt: new Date(0),
    executable: false,
    target: '',
  };
}

function workspaceOf(version: number) {
  return {
    workspaceId: 'wsp_0',
    version,
    oldestVersion: 0,
    files: 0,
    bytes: 0,
    maxFiles: 0,
    maxBytes: 0,
    lastSeq: 0,
    updatedAt: new Date(0),
  };
}
