import { refuse, refuseField } from '../../lib/errors.ts';
import { mediaTypeOf } from '../../lib/media-type.ts';
import {
  IMAGE_MEDIA_TYPES,
  isImageMediaType,
  MAX_INLINE_BYTES,
  MAX_INLINE_PART_BYTES,
  MAX_PART_BYTES,
  MAX_PARTS,
} from '../../lib/part-limits.ts';
import { baseNameOf } from '../../lib/paths.ts';
import type { NewPart } from '../../proto/gen/ahs/files/v1/files.ts';
import type { Attachment } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { checkPath } from './domain/paths.ts';
import { checkMediaType, checkName, unknownUpload } from './part-fields.ts';
import type { Contents } from './store/contents.ts';
import type { Parts } from './store/parts.ts';
import type { WorkspaceReads } from './store/reads.ts';
import type { Uploads } from './store/uploads.ts';
import type { LocatedWorkspace, ReadOptions } from './store/workspaces.ts';

/** A checked part with the source of its bytes. */
export interface SourcedPart {
  /** The pointer of the part, such as /3. */
  pointer: string;
  type: 'image' | 'file';
  mediaType: string;
  name: string;
  /** The bytes, or the stored content that has them. */
  source: Buffer | { contentId: string; size: number; sha256: string };
}

interface PartSourcesContext {
  reads: WorkspaceReads;
  uploads: Uploads;
  contents: Pick<Contents, 'contents'>;
  parts: Pick<Parts, 'partsOf'>;
}

/** Where the bytes of a part are. */
type PartSource = NonNullable<Attachment['source']> | { $case: 'contentId'; value: string };

/**
 * Returns the parts with their sources: bytes of the request, files of the workspace as it is now, uploads and stored
 * contents of its owner, or earlier parts of the session. Refused with INVALID_REQUEST, FILE_NOT_FOUND, UPLOAD_NOT_FOUND,
 * PART_NOT_FOUND and FILE_TOO_LARGE, each with the pointer of the part.
 */
export async function findPartSources(
  { reads, uploads, contents, parts: stored }: PartSourcesContext,
  requested: readonly NewPart[],
  located: LocatedWorkspace,
  now: Date,
  options: ReadOptions,
): Promise<SourcedPart[]> {
  const parts = checkParts(requested);
  const valuesOf = (kind: PartSource['$case']) =>
    parts.flatMap(({ source }) => (source.$case === kind ? [String(source.value)] : []));
  const paths = valuesOf('path');
  const uploaded = await uploads.ofOwner(located.ownerId, valuesOf('uploadId'), now, options);
  const written = await contents.contents(valuesOf('contentId'), options);
  const earlier = await stored.partsOf(located.sessionId, valuesOf('sha256'), options);
  const entries =
    paths.length === 0
      ? undefined
      : await reads.entriesAt(await reads.snapshot(located, undefined, options), paths, options);

  return parts.map(({ pointer, type, mediaType, name, source }) => {
    const checked = (givenType: string, givenName: string, bytes: SourcedPart['source']): SourcedPart => ({
      pointer,
      type,
      mediaType: checkTypeOf(type, mediaType || givenType, `${pointer}/media_type`),
      name: name || givenName,
      source: bytes,
    });
    if (source.$case === 'data') return checked('', '', source.value);
    if (source.$case === 'uploadId') {
      const upload = uploaded.get(source.value);
      if (!upload) throw unknownUpload(source.value, `${pointer}/upload_id`);
      return checked(upload.mediaType, upload.name, upload);
    }
    if (source.$case === 'contentId') {
      const content = written.get(source.value);
      if (!content) throw unknownContent(source.value, pointer);
      if (content.size > MAX_PART_BYTES) throw tooLarge(pointer);
      return checked('', '', content);
    }
    if (source.$case === 'sha256') {
      const part = earlier.get(source.value);
      if (!part) throw partNotFound(source.value, pointer);
      return checked(part.mediaType, part.name, part);
    }
    const node = entries?.get(source.value)?.node;
    const path = `${pointer}/path`;
    if (!node) throw fileNotFound(source.value, path);
    if (node.kind !== 'file') throw refuseField(path, `must name a file; it is a ${node.kind}`);
    if (node.size > MAX_PART_BYTES) throw tooLarge(path);
    return checked(mediaTypeOf(source.value), baseNameOf(source.value), node);
  });
}

/** Checks everything that needs no look-up. */
function checkParts(requested: readonly NewPart[]) {
  if (requested.length > MAX_PARTS) {
    const message = `The content must have at most ${MAX_PARTS} image and file parts.`;
    throw refuse('INVALID_REQUEST', message, { details: [{ pointer: '', message }] });
  }
  let inlineBytes = 0;
  return requested.map(({ type, mediaType, name, attachment, index, contentId }, position) => {
    const pointer = `/${index ?? position}`;
    if (type !== 'image' && type !== 'file')
      throw refuseField(`${pointer}/type`, 'must be image or file for a part with bytes');
    const source: PartSource | undefined =
      contentId === undefined ? attachment?.source : { $case: 'contentId', value: contentId };
    if (!source) throw refuseField(pointer, 'must have one of path, data and upload_id');
    if (source.$case === 'path') checkPath(source.value, `${pointer}/path`);
    if (source.$case === 'data') {
      inlineBytes += source.value.length;
      checkInline(source.value.length, inlineBytes, `${pointer}/data`);
    }
    if (mediaType !== '') checkMediaType(mediaType, `${pointer}/media_type`);
    return { pointer, type, mediaType, name: checkName(name, `${pointer}/name`), source } as const;
  });
}

function checkInline(bytes: number, sum: number, pointer: string): void {
  const remedy = 'use an upload or a file of the workspace for more';
  if (bytes > MAX_INLINE_PART_BYTES)
    throw refuseField(pointer, `must have at most ${MAX_INLINE_PART_BYTES} bytes; ${remedy}`);
  if (sum > MAX_INLINE_BYTES)
    throw refuseField(pointer, `exceeds the ${MAX_INLINE_BYTES} bytes of all inline data; ${remedy}`);
}

function checkTypeOf(type: SourcedPart['type'], text: string, pointer: string): string {
  if (text === '') throw refuseField(pointer, 'is required with data');
  const mediaType = checkMediaType(text, pointer);
  if (type === 'image' && !isImageMediaType(mediaType))
    throw refuseField(pointer, `of an image must be one of ${IMAGE_MEDIA_TYPES.join(', ')}`);
  return mediaType;
}

function fileNotFound(path: string, pointer: string) {
  const message = `Unknown file \`${path}\`.`;
  return refuse('FILE_NOT_FOUND', message, { details: [{ pointer, message }] });
}

function unknownContent(contentId: string, pointer: string) {
  const message = `Unknown content \`${contentId}\`.`;
  return refuse('FILE_NOT_FOUND', message, { details: [{ pointer, message }] });
}

/** A part that no message of the session has. */
function partNotFound(sha256: string, pointer: string) {
  const message = `No message of the session has the part \`${sha256}\`.`;
  return refuse('PART_NOT_FOUND', message, { details: [{ pointer, message }] });
}

function tooLarge(pointer: string) {
  const message = `A part must have at most ${MAX_PART_BYTES} bytes.`;
  return refuse('FILE_TOO_LARGE', message, { details: [{ pointer, message }] });
}
