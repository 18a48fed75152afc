import { refuse } from '../../lib/errors.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { StoredPart } from '../../proto/gen/ahs/files/v1/files.ts';
import { callOf } from '../authentication/authenticator.ts';
import type { Clients } from '../clients.ts';
import type { ContentChunk } from '../files/send-content.ts';
import { sendStored } from '../files/send-stored.ts';
import { checkPath } from '../input/path.ts';
import type { RawQuery } from '../input/query.ts';
import { type Route, route } from '../route.ts';
import { DOWNLOAD_RESPONSES } from './files/download-responses.ts';

/** The bytes of image and file parts of messages. */
export const partRoutes: Route[] = [
  route.raw({
    method: 'GET',
    path: '/sessions/{session_id}/parts/{sha256}',
    operationId: 'getSessionPart',
    tag: 'Sessions',
    summary: 'Download a part of a message',
    description:
      'Returns the bytes of an image or file part of a message of the session. They stay as they were when the message was ' +
      'sent. The media type and the file name are those of the first message with these bytes.',
    headers: ['Range', 'If-Range', 'If-Match', 'If-None-Match'],
    responses: DOWNLOAD_RESPONSES,
    errors: ['SESSION_NOT_FOUND', 'PART_NOT_FOUND', 'CONTENT_DAMAGED', 'RANGE_NOT_SATISFIABLE'],
    config: { longLived: true },
    createHandler({ clients, stallMonitor }, readQuery) {
      return async (request, reply) => {
        readQuery(request.query as RawQuery);
        const params = request.params as Record<string, string>;
        const { session_id: sessionId = '', sha256 = '' } = params;
        checkPath({ session_id: sessionId });
        const call = callOf(request);
        const { name, mediaType, size } = await describePart(clients, sessionId, sha256, call);
        const stored = {
          ...{ name: name || sha256, mediaType, size, sha256 },
          read: (offset: number, length: number | undefined) =>
            bytesOf(clients, { ...{ sessionId, sha256, lease: undefined, offset, length } }, call),
        };
        await sendStored(request, reply, stored, stallMonitor);
      };
    },
  }),
];

interface PartRange {
  sessionId: string;
  sha256: string;
  lease: undefined;
  offset: number;
  length: number | undefined;
}

async function describePart(
  { files }: Clients,
  sessionId: string,
  sha256: string,
  call: CallOptions,
): Promise<StoredPart> {
  const range = { sessionId, sha256, lease: undefined, offset: 0, length: 0 };
  for await (const { part } of files.readPart(range, call)) if (part) return part;
  throw refuse('PART_NOT_FOUND', 'No message of the session has this part.');
}

/** The bytes of a part, without the first message, which describes it. */
async function* bytesOf(
  { files }: Clients,
  range: PartRange,
  call: CallOptions,
): AsyncGenerator<ContentChunk> {
  for await (const { bytes } of files.readPart(range, call)) if (bytes.length > 0) yield { bytes };
}
