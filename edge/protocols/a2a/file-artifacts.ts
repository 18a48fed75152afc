import type { Artifact } from '@a2a-js/sdk';
import { Refusal } from '../../../lib/errors.ts';
import { mediaTypeOf } from '../../../lib/media-type.ts';
import { baseNameOf } from '../../../lib/paths.ts';
import type { Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type TurnFile, turnFiles } from '../mcp/turn-files.ts';
import type { A2aOperation } from './operation.ts';
import { artifactOf, partOf } from './parts.ts';

/** The bytes of files in a task. Further files are URLs of the REST API. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The files that a turn has written, each as an artifact. Files that were deleted since are left out. */
export async function fileArtifacts(operation: A2aOperation, turn: Turn): Promise<Artifact[]> {
  const artifacts: Artifact[] = [];
  let bytes = 0;
  for (const file of await turnFiles(operation, turn)) {
    const isInline = bytes + file.size <= MAX_BYTES;
    if (isInline) bytes += file.size;
    const content = isInline ? await bytesOf(operation, turn, file) : urlOf(operation, turn, file);
    const about = { filename: baseNameOf(file.path), mediaType: mediaTypeOf(file.path) };
    if (content) artifacts.push(artifactOf(`file:${file.path}`, file.path, [partOf(content, about)]));
  }
  return artifacts;
}

async function bytesOf({ context, call }: A2aOperation, { sessionId }: Turn, { path, size }: TurnFile) {
  const place = { of: { $case: 'sessionId' as const, value: sessionId } };
  const chunks: Uint8Array[] = [];
  const request = { place, lease: undefined, path, offset: 0, length: size };
  try {
    if (size > 0)
      for await (const chunk of context.clients.files.readContent(request, call)) chunks.push(chunk.bytes);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'FILE_NOT_FOUND') return undefined;
    throw error;
  }
  return { $case: 'raw' as const, value: Buffer.concat(chunks) };
}

function urlOf({ context }: A2aOperation, { sessionId }: Turn, { path }: TurnFile) {
  const url = `${context.publicOrigin()}/api/v1/sessions/${sessionId}/files/content?path=`;
  return { $case: 'url' as const, value: url + encodeURIComponent(path) };
}
