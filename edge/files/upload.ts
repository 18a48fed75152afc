import { refuseField } from '../../lib/errors.ts';
import { MAX_PATH_BYTES } from '../../lib/paths.ts';
import type {
  Change,
  Content,
  CreateUploadRequest,
  RequiredState,
  UploadBegin,
  WriteContentsRequest,
} from '../../proto/gen/ahs/files/v1/files.ts';
import type { BodyReader } from './body-reader.ts';
import { mergeSmallChunks } from './merge-chunks.ts';
import { type MultipartPart, MultipartReader } from './multipart-reader.ts';
import { malformed } from './part-head.ts';
import { checkDirectoryPath, checkFilePath } from './path.ts';
import type { WorkspaceLocation } from './workspace-owners.ts';

/** An upload: the messages for the files service, and the target paths. */
export interface WorkspaceUpload {
  messages: AsyncIterable<WriteContentsRequest>;
  /** The path and size of each file, in order. Complete when `messages` has ended. */
  targets: { path: string; size: number }[];
  /** The state that each target must have when the files are written. */
  required?: RequiredState | undefined;
}

/** The maximum number of files per request. Their paths are kept in memory until the last one has arrived. */
const MAX_FILES = 100_000;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A body that is one file. `size` is the announced length; undefined when it is unknown. */
export function rawUpload(
  location: WorkspaceLocation,
  reader: BodyReader,
  path: string,
  size: number | undefined,
): WorkspaceUpload {
  const target = { path, size: 0 };
  async function* messages(): AsyncGenerator<WriteContentsRequest> {
    yield { kind: { $case: 'place', value: location } };
    yield { kind: { $case: 'begin', value: { size } } };
    for await (const bytes of mergeSmallChunks(reader)) {
      target.size += bytes.length;
      yield { kind: { $case: 'bytes', value: bytes } };
    }
  }
  return { messages: messages(), targets: [target] };
}

/** The messages of an upload that belongs to no workspace. */
export async function* uploadMessages(
  begin: UploadBegin,
  reader: BodyReader,
): AsyncGenerator<CreateUploadRequest> {
  yield { kind: { $case: 'begin', value: begin } };
  for await (const bytes of mergeSmallChunks(reader)) yield { kind: { $case: 'bytes', value: bytes } };
}

/**
 * A form: an optional first part `path` with the target directory, then any number of `files`, each of which is written to its
 * file name below that directory. Without `path`, the files are written to the root of the workspace.
 */
export function formUpload(
  location: WorkspaceLocation,
  reader: BodyReader,
  boundary: string,
): WorkspaceUpload {
  const targets: WorkspaceUpload['targets'] = [];
  async function* messages(): AsyncGenerator<WriteContentsRequest> {
    yield { kind: { $case: 'place', value: location } };
    const paths = new Set<string>();
    let directory: string | undefined;
    for await (const part of new MultipartReader(reader, boundary)) {
      if (directory === undefined && part.name === 'path') {
        directory = await readDirectory(part);
        continue;
      }
      directory ??= '';
      const path = targetPath(part, directory, paths);
      const target = { path, size: 0 };
      targets.push(target);
      yield { kind: { $case: 'begin', value: { size: undefined } } };
      for await (const bytes of mergeSmallChunks(part.content)) {
        target.size += bytes.length;
        yield { kind: { $case: 'bytes', value: bytes } };
      }
    }
    if (targets.length === 0) throw refuseField('/files', 'must contain at least one file');
  }
  return { messages: messages(), targets };
}

/** The changes that write the stored contents to their paths. */
export function putFileChanges(
  { targets, required }: WorkspaceUpload,
  contents: readonly Content[],
): Change[] {
  return targets.map(({ path, size }, index) => {
    const content = contents[index];
    if (content?.size !== size)
      throw new Error(`The files service stored ${content?.size} of ${size} bytes of a file.`);
    const value = { path, contentId: content.contentId, executable: false, modifiedAt: undefined, required };
    return { kind: { $case: 'putFile', value } };
  });
}

async function readDirectory({ fileName, content }: MultipartPart): Promise<string> {
  if (fileName !== undefined) throw refuseField('/path', 'must be text, not a file');
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const bytes of content) {
    length += bytes.length;
    if (length > MAX_PATH_BYTES) throw refuseField('/path', `must have at most ${MAX_PATH_BYTES} bytes`);
    chunks.push(bytes);
  }
  return checkDirectoryPath(decode(Buffer.concat(chunks)));
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refuseField('/path', 'is not UTF-8');
  }
}

function targetPath({ name, fileName }: MultipartPart, directory: string, paths: Set<string>): string {
  if (name === 'path')
    throw refuseField('/path', 'must be the first part of the form and must not be repeated');
  if (name !== 'files')
    throw malformed(
      `Unknown part ${JSON.stringify(name.slice(0, 100))}. Parts must be named "path" or "files".`,
    );
  const pointer = `/files/${paths.size}`;
  if (paths.size === MAX_FILES) throw refuseField('/files', `must contain at most ${MAX_FILES} files`);
  if (!fileName) throw refuseField(pointer, 'has no file name');
  const path = checkFilePath(
    directory === '' ? fileName : `${directory}/${checkFilePath(fileName, pointer)}`,
    pointer,
  );
  if (paths.has(path))
    throw refuseField(pointer, `must not repeat the path of another file: ${JSON.stringify(path)}`);
  paths.add(path);
  return path;
}
