import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse, refuseField } from '../../../lib/errors.ts';
import { mediaTypeOf } from '../../../lib/media-type.ts';
import { baseNameOf } from '../../../lib/paths.ts';
import type { Entry } from '../../../proto/gen/ahs/files/v1/files.ts';
import { callOf } from '../../authentication/authenticator.ts';
import type { Clients } from '../../clients.ts';
import { attachment } from '../../files/disposition.ts';
import { checkFilePath, decodableQuery } from '../../files/path.ts';
import { lengthOf, type RequestedRange, requestedRange } from '../../files/range.ts';
import { sendContent, sendHead } from '../../files/send-content.ts';
import {
  locateWorkspace,
  WORKSPACE_OWNERS,
  type WorkspaceLocation,
  type WorkspaceOwner,
} from '../../files/workspace-owners.ts';
import { checkPath } from '../../input/path.ts';
import { isNotModified } from '../../input/preconditions.ts';
import { route } from '../../route.ts';
import { closed } from '../../schemas/common.ts';
import { BINARY, filePath } from '../../schemas/files.ts';
import type { StallMonitor } from '../../streaming/stall-monitor.ts';

/** The longest response of a download, in bytes. */
export const MAX_DOWNLOAD_BYTES = 64 * 1024 * 1024;

const CONTENT_HEADERS = ['ETag', 'Content-Disposition', 'Accept-Ranges'] as const;
const CONTENT = { '*/*': { schema: BINARY, example: 'The content of the file.' } };

const contentRoute = (owner: WorkspaceOwner) =>
  route.raw({
    method: 'GET',
    path: `${owner.path}/files/content`,
    operationId: `get${owner.noun}FileContent`,
    tag: 'Files',
    summary: `Download a file of ${owner.phrase}`,
    description:
      'A response has at most 64 MiB. Download longer files in ranges; HEAD returns the size. A response that is shorter than ' +
      'its Content-Length was interrupted.',
    query: closed({ path: filePath('The file.') }),
    headers: ['Range', 'If-Range', 'If-Match', 'If-None-Match'],
    responses: {
      200: { description: 'The complete file.', headers: CONTENT_HEADERS, content: CONTENT },
      206: {
        description: 'The requested range of the file.',
        headers: [...CONTENT_HEADERS, 'Content-Range'],
        content: CONTENT,
      },
      304: {
        description: 'The ETag of the content is one of those in If-None-Match.',
        headers: ['ETag'],
      },
    },
    errors: [owner.notFound, 'FILE_NOT_FOUND', 'FILE_TOO_LARGE', 'CONTENT_DAMAGED', 'RANGE_NOT_SATISFIABLE'],
    config: { longLived: true },
    createHandler({ clients, stallMonitor }, readQuery) {
      return async (request, reply) => {
        const path = checkFilePath(readQuery(decodableQuery(request)).path);
        checkPath(request.params as Record<string, string>);
        const location = locateWorkspace(owner, request.params);
        await sendFile(clients, request, reply, { location, path, stallMonitor });
      };
    },
  });

export const contentRoutes = WORKSPACE_OWNERS.map(contentRoute);

async function sendFile(
  { files }: Clients,
  request: FastifyRequest,
  reply: FastifyReply,
  { location, path, stallMonitor }: { location: WorkspaceLocation; path: string; stallMonitor: StallMonitor },
): Promise<void> {
  const call = callOf(request);
  const { entry, version } = await files.getEntry({ ...location, path }, call);
  if (entry?.kind !== 'file') throw refuseField('/path', `is a ${entry?.kind}; only files have content`);
  const etag = `"${entry.sha256}"`;
  const cacheHeaders = { etag, 'cache-control': 'private, no-cache' };
  if (isNotModified(request.raw, etag)) return sendHead(reply, 304, cacheHeaders);
  const range = rangeToSend(request, reply, entry, etag);
  const headers = { ...cacheHeaders, ...contentHeaders(entry, range) };
  if (request.method === 'HEAD') return sendHead(reply, 200, headers);
  const read = { ...location, path, version, offset: range?.first ?? 0, length: range && lengthOf(range) };
  await sendContent(reply, range ? 206 : 200, headers, files.readContent(read, call), stallMonitor);
}

/** The requested range. Refuses with FILE_TOO_LARGE a range that exceeds one response. HEAD requests have no limit. */
function rangeToSend(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  { size }: Entry,
  etag: string,
): RequestedRange | undefined {
  const range = withContentRange(() => requestedRange(raw, size, etag), reply, size);
  const length = range ? lengthOf(range) : size;
  if (raw.method === 'HEAD' || length <= MAX_DOWNLOAD_BYTES) return range;
  throw refuse(
    'FILE_TOO_LARGE',
    `A response has at most ${MAX_DOWNLOAD_BYTES} bytes and the file has ${size}. Request it in ranges.`,
  );
}

/** A refusal of a range names the size of the file in Content-Range. */
function withContentRange(
  find: () => RequestedRange | undefined,
  reply: FastifyReply,
  size: number,
): RequestedRange | undefined {
  try {
    return find();
  } catch (error) {
    reply.header('content-range', `bytes */${size}`);
    throw error;
  }
}

function contentHeaders(
  { path, size }: Entry,
  range: RequestedRange | undefined,
): Record<string, string | number> {
  return {
    'accept-ranges': 'bytes',
    'content-type': mediaTypeOf(path),
    'content-disposition': attachment(baseNameOf(path)),
    'content-length': range ? lengthOf(range) : size,
    ...(range ? { 'content-range': `bytes ${range.first}-${range.last}/${size}` } : {}),
  };
}
