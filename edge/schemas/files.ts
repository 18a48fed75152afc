import { Type } from 'typebox';
import { MAX_MEDIA_TYPE_CHARACTERS, mediaTypeOf } from '../../lib/media-type.ts';
import { baseNameOf, MAX_NAME_BYTES, MAX_PATH_BYTES } from '../../lib/paths.ts';
import type { Entry, PathChange, Upload } from '../../proto/gen/ahs/files/v1/files.ts';
import { count, flag, id, NULL, nullable, serializeTime, text, time } from './common.ts';

/** The SHA-256 of an empty file. */
export const SHA256_EXAMPLE = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** The OpenAPI schema of bytes. */
export const BINARY = { type: 'string', format: 'binary' };
const PATH_EXAMPLE = { examples: ['src/main.ts'] };

/** A bound on the length of the text. lib/paths.ts defines which paths are valid. */
const PATH_CHARACTERS = 4 * MAX_PATH_BYTES;

/** A path in a request. */
export const filePath = (description: string) =>
  Type.String({ maxLength: PATH_CHARACTERS, description, ...PATH_EXAMPLE });

/** The OpenAPI request body of an operation that reads the bytes themselves. */
export const RAW_BODY = {
  required: true,
  content: { '*/*': { schema: BINARY, example: 'The content of the file.' } },
};

export const mediaType = (description: string) =>
  Type.String({ maxLength: MAX_MEDIA_TYPE_CHARACTERS, description, examples: ['image/png'] });

/** The name of an upload or part in a request. */
export const partName = (description: string) =>
  Type.String({ maxLength: MAX_NAME_BYTES, description, examples: ['diagram.png'] });

export const UploadShape = Type.Object(
  {
    upload_id: id('upl', 'the upload.'),
    size: count('The size in bytes.', 12),
    sha256: text('The SHA-256 of the bytes in lowercase hexadecimal.', { examples: [SHA256_EXAMPLE] }),
    media_type: text('The media type of the bytes.', { examples: ['image/png'] }),
    expires_at: time('The time after which an upload that is not used before is deleted.'),
  },
  { title: 'Upload', description: 'Bytes that messages, tool results and new conversations refer to.' },
);

export function serializeUpload(upload: Upload | undefined) {
  if (!upload) throw new Error('The files service returned no upload.');
  const { uploadId, size, sha256, mediaType: type, expiresAt } = upload;
  return { upload_id: uploadId, size, sha256, media_type: type, expires_at: serializeTime(expiresAt) };
}

export const EntryShape = Type.Object(
  {
    path: text('The path relative to the workspace root, byte for byte as it was given.', PATH_EXAMPLE),
    name: text('The last segment of the path.', { examples: ['main.ts'] }),
    kind: Type.Enum(['file', 'directory', 'symlink']),
    size: count('The size of a file in bytes; 0 for directories and symlinks.', 12),
    sha256: nullable(
      text('The SHA-256 of the content in lowercase hexadecimal; null unless it is a file.', {
        examples: [SHA256_EXAMPLE],
      }),
    ),
    media_type: nullable(
      text('The media type that the file name implies; null unless it is a file.', {
        examples: ['text/plain'],
      }),
    ),
    executable: flag('Whether the file is executable in the sandbox.', false),
    target: nullable(text('The target of a symlink. The API does not follow symlinks.'), NULL),
    modified_at: time('The time of the last change.'),
  },
  { title: 'FileEntry', description: 'A file, directory or symlink of a workspace.' },
);

export function serializeEntry(entry: Entry) {
  const { path, kind, size, sha256, executable, target, modifiedAt } = entry;
  const isFile = kind === 'file';
  return {
    path,
    name: baseNameOf(path),
    kind,
    size,
    sha256: isFile ? sha256 : null,
    media_type: isFile ? mediaTypeOf(path) : null,
    executable,
    target: kind === 'symlink' ? target : null,
    modified_at: serializeTime(modifiedAt),
  };
}

export const workspaceVersion = count('The version of the workspace after this change.', 3);

/** A written entry and the version that wrote it. */
export const ChangedEntry = Type.Object(
  { entry: EntryShape, workspace_version: workspaceVersion },
  { title: 'WrittenEntry' },
);

export const ChangeShape = Type.Object(
  {
    seq: count('The position among the changes of the workspace: 1, 2, 3 …'),
    kind: Type.Enum(['created', 'modified', 'deleted']),
    path: text('The changed path.', PATH_EXAMPLE),
    entry: nullable(EntryShape, { description: 'The entry after the change; null for a deletion.' }),
    workspace_version: count('The version of the workspace after the change.', 3),
    session_id: nullable(
      id('ses', "the session that made the change; null for a change of an assistant's workspace"),
    ),
    created_at: time('The time of the change.'),
  },
  { title: 'FileChange' },
);

export function serializeChange({ seq, kind, entry, workspaceVersion, sessionId, createdAt }: PathChange) {
  return {
    seq,
    kind,
    path: entry?.path ?? '',
    entry: entry && kind !== 'deleted' ? serializeEntry(entry) : null,
    workspace_version: workspaceVersion,
    session_id: sessionId || null,
    created_at: serializeTime(createdAt),
  };
}
