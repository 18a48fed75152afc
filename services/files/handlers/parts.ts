import { refuse } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import type {
  FilesServiceDefinition,
  ReadPartResponse,
  StoredPart,
  StorePartsRequest,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import { ContentReceiver, forParts } from '../content-receiver.ts';
import { checkImage } from '../image-check.ts';
import { findPartSources, type SourcedPart } from '../part-sources.ts';
import type { PartRow } from '../store/parts.ts';
import type { LocatedWorkspace } from '../store/workspaces.ts';
import { MAX_MESSAGE_BYTES } from '../upload-messages.ts';
import type { FilesHandlerContext } from './context.ts';
import { newSession, readOptionsFor } from './locate.ts';
import { checkCount } from './messages.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'storeParts' | 'readPart'>;

const SHA256 = /^[0-9a-f]{64}$/;

/** The bytes of image and file parts of messages. */
export function partHandlers(context: FilesHandlerContext): Methods {
  const { clock, locate, parts, reader, receiving } = context;

  /** Stores the bytes that the request itself has. Returns each part with its content. */
  async function store(sourced: readonly SourcedPart[], ownerId: string, call: Call): Promise<PartRow[]> {
    const inline = sourced.flatMap(({ source }) => (Buffer.isBuffer(source) ? [source] : []));
    const receiver = new ContentReceiver(forParts(receiving), ownerId, call.signal);
    const received = inline.length === 0 ? [] : await receiver.receive(incoming(inline));
    return sourced.map(({ mediaType, name, source }) => {
      const content = Buffer.isBuffer(source) ? received.shift() : source;
      if (!content) throw new Error('the receiver returned no content for the bytes of a part');
      return { contentId: content.contentId, sha256: content.sha256, size: content.size, mediaType, name };
    });
  }

  /** The session of a request. A runner names it by its lease, because it must not choose the owner. */
  async function sessionOf(
    { sessionId, ownerId, assistantId, lease }: StorePartsRequest,
    call: Call,
  ): Promise<LocatedWorkspace> {
    if (lease) return locate({ of: { $case: 'sessionId', value: sessionId } }, lease, call);
    if (call.peer === 'runner') throw refuse('INVALID_REQUEST', 'The request of a runner must have a lease.');
    return newSession(sessionId, ownerId, assistantId);
  }

  return {
    async storeParts(request, call) {
      const { sessionId, parts: requested } = request;
      const now = clock.now();
      const located = await sessionOf(request, call);
      const { ownerId } = located;
      const options = { signal: call.signal, trace: call.trace, viewer: { userId: ownerId } };
      const sourced = await findPartSources(context, requested, located, now, options);
      await Promise.all(sourced.map((part) => checkImage(context, part, call)));
      if (request.checkOnly) return { parts: sourced.map(checkedPart) };
      const stored = await store(sourced, ownerId, call);
      const uploadIds = requested.flatMap(({ attachment }) =>
        attachment?.source?.$case === 'uploadId' ? [attachment.source.value] : [],
      );
      const checkAt = new Date(now.getTime() + receiving.graceMs);
      if (stored.length > 0)
        await parts.add({ sessionId, ownerId, parts: stored, uploadIds, now, checkAt }, call);
      return { parts: stored };
    },

    async readPart({ sessionId, lease, sha256, offset = 0, length }, call) {
      checkCount(offset, '/offset');
      if (length !== undefined) checkCount(length, '/length');
      const located = await locate({ of: { $case: 'sessionId', value: sessionId } }, lease, call);
      const part = SHA256.test(sha256)
        ? await parts.part(sessionId, sha256, readOptionsFor(located, call))
        : undefined;
      if (!part) throw refuse('PART_NOT_FOUND', `No message of the session has the part \`${sha256}\`.`);
      if (offset > 0 && offset >= part.size)
        throw refuse('RANGE_NOT_SATISFIABLE', `The part has ${part.size} bytes.`);

      async function* answer(found: typeof part & object): AsyncGenerator<ReadPartResponse> {
        const { size, mediaType, name } = found;
        yield { part: { sha256, size, mediaType, name }, bytes: Buffer.alloc(0) };
        for await (const piece of reader.read(found, offset, length ?? size, call.signal))
          yield { part: undefined, bytes: Buffer.from(piece.buffer, piece.byteOffset, piece.length) };
      }
      return answer(part);
    },
  };
}

function checkedPart({ mediaType, name, source }: SourcedPart): StoredPart {
  const [sha256, size] = Buffer.isBuffer(source) ? ['', source.length] : [source.sha256, source.size];
  return { sha256, size, mediaType, name };
}

async function* incoming(contents: readonly Buffer[]) {
  for (const content of contents) yield { declaredSize: content.length, bytes: pieces(content) };
}

async function* pieces(content: Buffer): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < content.length; from += MAX_MESSAGE_BYTES)
    yield content.subarray(from, from + MAX_MESSAGE_BYTES);
}
