import { refuse } from '../../../lib/errors.ts';
import { mediaTypeOf } from '../../../lib/media-type.ts';
import { baseNameOf } from '../../../lib/paths.ts';
import type { ConversationPlace } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { OutboundFile } from '../products/product.ts';
import type { WantedPost } from '../rendering/wanted-post.ts';
import { asOwner, type WorkerContext } from '../work/worker-context.ts';

interface FileSource {
  files: WorkerContext['files'];
  sessionId: string;
  ownerId: string;
  place: ConversationPlace;
}

/** Returns a file of the workspace, or one that consists of a text, for an upload. */
export function outboundFile(
  { file, content }: Extract<WantedPost, { kind: 'file' }>,
  postId: string,
  { files, sessionId, ownerId, place }: FileSource,
  signal: AbortSignal,
): OutboundFile {
  const { path, size, version } = file;

  async function* read(): AsyncIterable<Uint8Array> {
    if (content !== undefined) {
      yield Buffer.from(content);
      return;
    }
    const of = { $case: 'sessionId', value: sessionId } as const;
    const request = { place: { of }, lease: undefined, path, version, offset: 0 };
    let received = 0;
    for await (const { bytes } of files.readContent(request, asOwner(ownerId, signal))) {
      received += bytes.length;
      yield bytes;
    }
    if (received !== size) throw refuse('FILE_NOT_FOUND', `The file ${path} has changed.`);
  }

  return { postId, place, name: baseNameOf(path), mediaType: mediaTypeOf(path), size, read };
}
