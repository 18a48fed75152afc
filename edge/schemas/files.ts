import { Type } from 'typebox';
import { MAX_PATH_BYTES, nameOf } from '../../lib/paths.ts';
import type { Entry, PathChange } from '../../proto/gen/ahs/files/v1/files.ts';
import { mediaTypeOf } from '../files/media-type.ts';
import { count, flag, id, NULL, nullable, shownTime, text, time } from './common.ts';

const SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const PATH_EXAMPLE = { examples: ['src/main.ts'] };

/** Longer texts than any path; what a path may be is decided by lib/paths.ts. */
const PATH_CHARACTERS = 4 * MAX_PATH_BYTES;

/** A path in a request. */
export const filePath = (description: string) =>
  Type.String({ maxLength: PATH_CHARACTERS, description, ...PATH_EXAMPLE });

export const EntryShape = Type.Object(
  {
    path: text('Relative to the workspace, byte for byte as it was given.', PATH_EXAMPLE),
    name: text('The last part of the path.', { examples: ['main.ts'] }),
    kind: Type.Enum(['file', 'directory', 'symlink']),
    size: count('In bytes; 0 unless it is a file.', 12),
    sha256: nullable(text('Of the content, in lowercase hexadecimal. Of files.', { examples: [SHA256] })),
    media_type: nullable(
      text('What the name says about the content. Of files.', { examples: ['text/plain'] }),
    ),
    executable: flag('Whether it is a program to the sandbox.', false),
    target: nullable(text('Where a symlink points. Nobody follows it here.'), NULL),
    modified_at: time('When it was last changed.'),
  },
  { title: 'FileEntry', description: 'What stands at a path of a workspace.' },
);

export function shownEntry(entry: Entry) {
  const { path, kind, size, sha256, executable, target, modifiedAt } = entry;
  const isFile = kind === 'file';
  return {
    path,
    name: nameOf(path),
    kind,
    size,
    sha256: isFile ? sha256 : null,
    media_type: isFile ? mediaTypeOf(path) : null,
    executable,
    target: kind === 'symlink' ? target : null,
    modified_at: shownTime(modifiedAt),
  };
}

export const workspaceVersion = count('The version of the workspace that this change made.', 3);

export const ChangeShape = Type.Object(
  {
    seq: count('1, 2, 3 … within the workspace.'),
    kind: Type.Enum(['created', 'modified', 'deleted']),
    path: text('Which path has changed.', PATH_EXAMPLE),
    entry: nullable(EntryShape, { description: 'As it stood after the change; null for a deletion.' }),
    workspace_version: count('The version of the workspace that the change made.', 3),
    session_id: nullable(
      id('ses', "the session in which it happened; null for a change of an assistant's workspace"),
    ),
    created_at: time('When it happened.'),
  },
  { title: 'FileChange' },
);

export function shownChange({ seq, kind, entry, workspaceVersion, sessionId, createdAt }: PathChange) {
  return {
    seq,
    kind,
    path: entry?.path ?? '',
    entry: entry && kind !== 'deleted' ? shownEntry(entry) : null,
    workspace_version: workspaceVersion,
    session_id: sessionId || null,
    created_at: shownTime(createdAt),
  };
}
