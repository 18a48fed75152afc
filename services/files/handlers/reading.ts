import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { archive, archiveBytes } from '../archive.ts';
import type { Node } from '../domain/node.ts';
import { checkPath, checkPlace } from '../domain/paths.ts';
import type { HandlerContext } from './context.ts';
import { readingOf } from './places.ts';
import { changeShape, countShape, entryShape, pageShape, placedShape, workspaceShape } from './shapes.ts';

type Methods = Pick<
  Handlers<FilesServiceDefinition>,
  'getWorkspace' | 'listEntries' | 'getEntry' | 'readContent' | 'readArchive' | 'listChanges'
>;

/** What is in a workspace. */
export function readingHandlers(context: HandlerContext): Methods {
  const { locate, reads, contents, reader, limits } = context;

  return {
    async getWorkspace({ place }, call) {
      const located = await locate(place, undefined, call);
      const row = await reads.workspace(located, readingOf(located, call));
      return { workspace: workspaceShape(located.workspaceId, row, limits) };
    },

    async listEntries({ place, lease, page, path, recursive }, call) {
      const asked = pageShape(page);
      checkPlace(path);
      const located = await locate(place, lease, call);
      const by = readingOf(located, call);
      const snapshot = await reads.snapshot(located, undefined, by);
      const { rows, nextCursor } = await reads.list(located, snapshot, path, recursive, asked, by);
      return { entries: rows.map(placedShape), page: { nextCursor } };
    },

    async getEntry({ place, lease, path }, call) {
      checkPath(path);
      const located = await locate(place, lease, call);
      const by = readingOf(located, call);
      const snapshot = await reads.snapshot(located, undefined, by);
      const node = await reads.node(snapshot, path, by);
      return { entry: entryShape(path, node), version: snapshot.version };
    },

    async readContent({ place, lease, path, version, offset, length }, call) {
      checkPath(path);
      countShape(offset, '/offset');
      if (length !== undefined) countShape(length, '/length');
      if (version !== undefined) countShape(version, '/version');
      const located = await locate(place, lease, call);
      const by = readingOf(located, call);
      const node = await reads.node(await reads.snapshot(located, version, by), path, by);
      checkReadable(path, node);
      if (offset > 0 && offset >= node.size) {
        throw refuse('RANGE_NOT_SATISFIABLE', `${path} has ${node.size} bytes`);
      }
      const content = await contents.content(node.contentId, by);
      if (!content) throw new Error(`the content ${node.contentId} of an entry is not there`);
      return messages(reader.read(content, offset, length ?? node.size, call.signal));
    },

    async readArchive({ place, path, maxBytes }, call) {
      checkPlace(path);
      countShape(maxBytes, '/max_bytes');
      const located = await locate(place, undefined, call);
      const by = readingOf(located, call);
      const snapshot = await reads.snapshot(located, undefined, by);
      const pages = () => reads.walk(snapshot, path, by);
      const size = await archiveBytes(path, await pages(), maxBytes);
      if (size > maxBytes) {
        throw refuse('FILE_TOO_LARGE', `the archive would have more than ${maxBytes} bytes`);
      }
      const top = path === '' ? undefined : await reads.node(snapshot, path, by);
      const { signal } = call;
      return messages(archive({ path, top, pages: await pages(), contents, reader, signal, by }));
    },

    async listChanges({ place, afterSeq, page }, call) {
      const asked = pageShape(page);
      countShape(afterSeq, '/after_seq');
      const located = await locate(place, undefined, call);
      const { rows, nextCursor } = await reads.changes(located, afterSeq, asked, readingOf(located, call));
      return { changes: rows.map(changeShape), page: { nextCursor } };
    },
  };
}

function checkReadable(path: string, { kind }: Node): void {
  if (kind !== 'file') throw refuse('INVALID_REQUEST', `${path} is a ${kind}, which has no bytes to read`);
}

async function* messages(pieces: AsyncIterable<Uint8Array>) {
  for await (const bytes of pieces)
    yield { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) };
}
