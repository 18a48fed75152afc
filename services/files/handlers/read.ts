import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { archive, archiveBytes } from '../archive.ts';
import type { Node } from '../domain/node.ts';
import { checkPath, checkPathOrRoot } from '../domain/paths.ts';
import type { FilesHandlerContext } from './context.ts';
import { readOptionsFor } from './locate.ts';
import {
  changeMessage,
  checkCount,
  checkPage,
  entryMessage,
  treeEntryMessage,
  workspaceMessage,
} from './messages.ts';

type Methods = Pick<
  Handlers<FilesServiceDefinition>,
  'getWorkspace' | 'listEntries' | 'getEntry' | 'readContent' | 'readArchive' | 'listChanges'
>;

/** The RPCs that read a workspace. */
export function readHandlers(context: FilesHandlerContext): Methods {
  const { locate, reads, contents, reader, limits } = context;

  return {
    async getWorkspace({ place }, call) {
      const located = await locate(place, undefined, call);
      const row = await reads.workspace(located, readOptionsFor(located, call));
      return { workspace: workspaceMessage(located.workspaceId, row, limits) };
    },

    async listEntries({ place, lease, page, path, recursive }, call) {
      const pageRequest = checkPage(page, call);
      checkPathOrRoot(path);
      const located = await locate(place, lease, call);
      const options = readOptionsFor(located, call);
      const snapshot = await reads.snapshot(located, undefined, options);
      const { rows, nextCursor } = await reads.list(located, snapshot, path, recursive, pageRequest, options);
      return { entries: rows.map(treeEntryMessage), page: { nextCursor } };
    },

    async getEntry({ place, lease, path }, call) {
      checkPath(path);
      const located = await locate(place, lease, call);
      const options = readOptionsFor(located, call);
      const snapshot = await reads.snapshot(located, undefined, options);
      const node = await reads.node(snapshot, path, options);
      return { entry: entryMessage(path, node), version: snapshot.version };
    },

    async readContent({ place, lease, path, version, offset, length }, call) {
      checkPath(path);
      checkCount(offset, '/offset');
      if (length !== undefined) checkCount(length, '/length');
      if (version !== undefined) checkCount(version, '/version');
      const located = await locate(place, lease, call);
      const options = readOptionsFor(located, call);
      const node = await reads.node(await reads.snapshot(located, version, options), path, options);
      checkReadable(path, node);
      if (offset > 0 && offset >= node.size) {
        throw refuse('RANGE_NOT_SATISFIABLE', `${path} has ${node.size} bytes`);
      }
      const content = await contents.content(node.contentId, options);
      if (!content) throw new Error(`the content ${node.contentId} of an entry does not exist`);
      return messages(reader.read(content, offset, length ?? node.size, call.signal));
    },

    async readArchive({ place, path, maxBytes }, call) {
      checkPathOrRoot(path);
      checkCount(maxBytes, '/max_bytes');
      const located = await locate(place, undefined, call);
      const options = readOptionsFor(located, call);
      const snapshot = await reads.snapshot(located, undefined, options);
      const pages = () => reads.walk(snapshot, path, options);
      const size = await archiveBytes(path, await pages(), maxBytes);
      if (size > maxBytes) {
        throw refuse('FILE_TOO_LARGE', `the archive would have more than ${maxBytes} bytes`);
      }
      const top = path === '' ? undefined : await reads.node(snapshot, path, options);
      const { signal } = call;
      return messages(
        archive({ path, top, pages: await pages(), contents, reader, signal, readOptions: options }),
      );
    },

    async listChanges({ place, afterSeq, page }, call) {
      const pageRequest = checkPage(page, call);
      checkCount(afterSeq, '/after_seq');
      const located = await locate(place, undefined, call);
      const { rows, nextCursor } = await reads.changes(
        located,
        afterSeq,
        pageRequest,
        readOptionsFor(located, call),
      );
      return { changes: rows.map(changeMessage), page: { nextCursor } };
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
