import { createHash } from 'node:crypto';
import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type {
  Entry,
  FilesServiceDefinition,
  Place,
  StoredPart,
  UploadBegin,
} from '../../../proto/gen/ahs/files/v1/files.ts';

/** The faults that the fake service simulates. */
interface Faults {
  /** Refuses every change with SESSION_ARCHIVED. */
  frozen?: boolean;
  /** Delays every message until this resolves. */
  pause?: Promise<void> | undefined;
  /** Fails downloads after this many bytes. */
  breakAfter?: number;
  /** Reports sizes that are this many bytes too small. */
  missingBytes?: number;
}

export interface FakeFiles {
  handlers: Partial<Handlers<FilesServiceDefinition>>;
  faults: Faults;
  /** The number of received bytes. */
  received(): number;
  /** The number of open uploads. */
  writing(): number;
  /** The number of open downloads. */
  reading(): number;
  /** Adds an entry to the first workspace without an upload. Files consist of zeros. */
  addEntry(path: string, size: number, kind?: string): void;
  /** The number of versions of all workspaces. */
  versions(): number;
  /** The first messages of the uploads that were created. */
  uploads: UploadBegin[];
  /** Adds a part to every session. Returns its digest. */
  addPart(bytes: Buffer, mediaType: string, name: string): string;
}

interface Tree {
  version: number;
  files: Map<string, { entry: Entry; bytes: Buffer }>;
}

const MAX_FILE_BYTES = 3 * 1024 * 1024;
export const CHUNK_BYTES = 100_000;

/** An in-memory files service. `known` are the ids of sessions and assistants with a workspace. */
export function createFakeFiles(known: ReadonlySet<string>): FakeFiles {
  const faults: Faults = {};
  const trees = new Map<string, Tree>();
  const contents = new Map<string, Buffer>();
  const uploads: UploadBegin[] = [];
  const parts = new Map<string, { part: StoredPart; bytes: Buffer }>();
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
    if (!file) throw refuse('FILE_NOT_FOUND', 'There is no such file.');
    return file;
  }
  async function* inChunks(bytes: Buffer) {
    reading++;
    try {
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
        if (faults.breakAfter !== undefined && at >= faults.breakAfter)
          throw refuse('CONTENT_DAMAGED', 'not what was written');
        yield { bytes: bytes.subarray(at, at + CHUNK_BYTES) };
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
            return { contentId, size: bytes.length - (faults.missingBytes ?? 0), sha256: sha256(bytes) };
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
      yield* inChunks(bytes.subarray(offset, length === undefined ? undefined : offset + length));
    },
    async createUpload(messages) {
      writing++;
      try {
        const pieces: Buffer[] = [];
        let begin: UploadBegin | undefined;
        for await (const { kind } of messages) {
          if (kind?.$case === 'begin') begin = kind.value;
          else if (kind) pieces.push(kind.value);
          await faults.pause;
        }
        if (!begin) throw refuse('INVALID_REQUEST', 'no beginning');
        uploads.push(begin);
        const bytes = Buffer.concat(pieces);
        const { mediaType, name } = begin;
        const stored = { size: bytes.length, sha256: sha256(bytes), mediaType, name };
        const uploadId = `upl_${uploads.length}`;
        return { upload: { uploadId, ...stored, expiresAt: new Date() }, replayed: false };
      } finally {
        writing--;
      }
    },
    async *readPart({ sha256: digest, offset = 0, length }) {
      const found = parts.get(digest);
      if (!found) throw refuse('PART_NOT_FOUND', 'no such part');
      const { part, bytes } = found;
      yield { part, bytes: Buffer.alloc(0) };
      const end = length === undefined ? undefined : offset + length;
      for await (const one of inChunks(bytes.subarray(offset, end))) yield { part: undefined, ...one };
    },
    async *readArchive({ place, maxBytes }) {
      const archive = Buffer.concat([...treeOf(place).files.values()].map(({ bytes }) => bytes));
      if (archive.length > maxBytes) throw refuse('FILE_TOO_LARGE', 'too long');
      yield* inChunks(archive);
    },
  };
  return {
    handlers,
    faults,
    received: () => received,
    writing: () => writing,
    reading: () => reading,
    addEntry(path, size, kind = 'file') {
      const [id = ''] = known;
      const tree = treeOf({ of: { $case: 'sessionId', value: id } });
      const bytes = Buffer.alloc(size);
      tree.files.set(path, { entry: { ...entryOf(path, bytes), kind }, bytes });
    },
    versions: () => versions,
    uploads,
    addPart(bytes, mediaType, name) {
      const part = { sha256: sha256(bytes), size: bytes.length, mediaType, name };
      parts.set(part.sha256, { part, bytes });
      return part.sha256;
    },
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
