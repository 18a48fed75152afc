import type { ContentBlock } from '@modelcontextprotocol/server';
import { Type } from 'typebox';
import { refuse, refuseField } from '../../../../lib/errors.ts';
import { mediaTypeOf } from '../../../../lib/media-type.ts';
import { IMAGE_MEDIA_TYPES } from '../../../../lib/part-limits.ts';
import type { WriteContentsRequest } from '../../../../proto/gen/ahs/files/v1/files.ts';
import { checkDirectoryPath, checkFilePath } from '../../../files/path.ts';
import type { WorkspaceLocation } from '../../../files/workspace-owners.ts';
import { decodeBase64 } from '../../../input/base64.ts';
import { writeFiles } from '../../../routes/files/write-files.ts';
import { closed, flag, nullable, optional, pageRequest, paging } from '../../../schemas/common.ts';
import { filePath, serializeEntry } from '../../../schemas/files.ts';
import { fileLink } from '../file-link.ts';
import { fileUri } from '../resources/uri.ts';
import { ownSession } from '../session-access.ts';
import { READS, tool } from '../tool.ts';
import { idempotencyKey, nextCursor, sessionId } from './members.ts';

/** The longest content of a result. A longer file is a link to a resource. */
const MAX_READ_BYTES = 1024 * 1024;
const MAX_MESSAGE_BYTES = 1024 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const EntryOutput = Type.Object({
  path: Type.String(),
  name: Type.String(),
  kind: Type.Enum(['file', 'directory', 'symlink']),
  size: Type.Integer(),
  sha256: nullable(Type.String()),
  media_type: nullable(Type.String()),
  executable: Type.Boolean(),
  target: nullable(Type.String()),
  modified_at: Type.String(),
});

const locationOf = (value: string): WorkspaceLocation => ({
  place: { of: { $case: 'sessionId', value } },
  lease: undefined,
});

export const fileTools = [
  tool({
    name: 'list_files',
    title: 'List files',
    description: 'Lists the files and directories in the workspace of a conversation, by path.',
    annotations: READS,
    input: closed({
      session_id: sessionId('the conversation'),
      path: optional(filePath('A directory. Default: the whole workspace.')),
      recursive: optional(flag('Whether to list everything below the directory.')),
      ...paging,
    }),
    output: Type.Object({ files: Type.Array(EntryOutput), next_cursor: nextCursor }),
    async call(args, operation) {
      const path = checkDirectoryPath(args.path ?? '');
      const { sessionId: id } = await ownSession(operation, args.session_id);
      const { entries, page } = await operation.context.clients.files.listEntries(
        { ...locationOf(id), page: pageRequest(args), path, recursive: args.recursive ?? false },
        operation.call,
      );
      return {
        structured: { files: entries.map(serializeEntry), next_cursor: page?.nextCursor || null },
      };
    },
  }),

  tool({
    name: 'read_file',
    title: 'Read a file',
    description:
      'Returns the content of a file in the workspace of a conversation: text as text, images as images, other bytes in Base64. ' +
      'A file of more than 1 MiB is returned as a link to a resource; `offset` and `length` read a part of it.',
    annotations: READS,
    input: closed({
      session_id: sessionId('the conversation'),
      path: filePath('The file.'),
      offset: optional(Type.Integer({ minimum: 0, description: 'The first byte. Default: 0.' })),
      length: optional(
        Type.Integer({ minimum: 1, maximum: MAX_READ_BYTES, description: 'The number of bytes.' }),
      ),
    }),
    output: Type.Object({
      path: Type.String(),
      size: Type.Integer({ description: 'The size of the file in bytes.' }),
      sha256: Type.String(),
      media_type: Type.String(),
      uri: Type.String({ description: 'The resource with the content.' }),
      offset: Type.Integer(),
      text: nullable(Type.String(), { description: 'The content, if it is text.' }),
      base64: nullable(Type.String(), { description: 'The content, if it is neither text nor an image.' }),
    }),
    async call(args, operation) {
      const { files } = operation.context.clients;
      const path = checkFilePath(args.path);
      const { sessionId: id } = await ownSession(operation, args.session_id);
      const location = { ...locationOf(id), path };
      const { entry, version } = await files.getEntry(location, operation.call);
      if (entry?.kind !== 'file') throw refuseField('/path', `is a ${entry?.kind}; only files have content`);
      const { size, sha256 } = entry;
      const isPart = args.offset !== undefined || args.length !== undefined;
      const offset = args.offset ?? 0;
      if (offset > size) throw refuse('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes.`);
      const file = { path, size, sha256, media_type: mediaTypeOf(path), uri: fileUri(id, path), offset };
      if (!isPart && size > MAX_READ_BYTES)
        return { structured: { ...file, text: null, base64: null }, content: [fileLink(id, file)] };
      const length = Math.min(args.length ?? MAX_READ_BYTES, size - offset);
      const chunks: Uint8Array[] = [];
      if (length > 0)
        for await (const { bytes } of files.readContent(
          { ...location, version, offset, length },
          operation.call,
        ))
          chunks.push(bytes);
      const { content, ...shown } = shownContent(Buffer.concat(chunks), file.media_type, isPart);
      return { structured: { ...file, ...shown }, content };
    },
  }),

  tool({
    name: 'write_file',
    title: 'Write a file',
    description:
      'Writes a file into the workspace of a conversation, where the agent can read it. An existing file is replaced, and ' +
      'missing directories are created.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: closed({
      session_id: sessionId('the conversation'),
      path: filePath('The file.'),
      content: Type.String({ description: 'The content.' }),
      encoding: optional(
        Type.Enum(['utf-8', 'base64'], { description: 'How `content` has the bytes. Default: `utf-8`.' }),
      ),
      idempotency_key: idempotencyKey,
    }),
    output: Type.Object({ file: EntryOutput, workspace_version: Type.Integer() }),
    async call(args, operation) {
      const path = checkFilePath(args.path);
      const bytes =
        args.encoding === 'base64' ? decodeBase64(Buffer.from(args.content)) : Buffer.from(args.content);
      if (!bytes) throw refuseField('/content', 'must be standard Base64 with padding');
      const { sessionId: id } = await ownSession(operation, args.session_id);
      const location = locationOf(id);
      const upload = { messages: messagesOf(location, bytes), targets: [{ path, size: bytes.length }] };
      const { clients } = operation.context;
      const key = args.idempotency_key ?? '';
      const { entries, version } = await writeFiles(clients, location, upload, key, operation.call);
      const [entry] = entries;
      if (!entry) throw new Error('The files service returned no entry.');
      return { structured: { file: serializeEntry(entry), workspace_version: version } };
    },
  }),
];

interface ShownContent {
  text: string | null;
  base64: string | null;
  content: ContentBlock[];
}

function shownContent(bytes: Buffer, mediaType: string, isPart: boolean): ShownContent {
  if (!isPart && IMAGE_MEDIA_TYPES.some((type) => type === mediaType)) {
    const image = { type: 'image' as const, data: bytes.toString('base64'), mimeType: mediaType };
    return { text: null, base64: null, content: [image] };
  }
  const text = textOf(bytes);
  return { text: text ?? null, base64: text === undefined ? bytes.toString('base64') : null, content: [] };
}

/** Undefined for bytes that are no text. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

async function* messagesOf(location: WorkspaceLocation, bytes: Buffer): AsyncGenerator<WriteContentsRequest> {
  yield { kind: { $case: 'place', value: location } };
  yield { kind: { $case: 'begin', value: { size: bytes.length } } };
  for (let at = 0; at < bytes.length; at += MAX_MESSAGE_BYTES)
    yield { kind: { $case: 'bytes', value: bytes.subarray(at, at + MAX_MESSAGE_BYTES) } };
}
