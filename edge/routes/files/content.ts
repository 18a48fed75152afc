import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseField } from '../../../lib/errors.ts';
import { mediaTypeOf } from '../../../lib/media-type.ts';
import { baseNameOf } from '../../../lib/paths.ts';
import { callOf } from '../../authentication/authenticator.ts';
import type { Clients } from '../../clients.ts';
import { checkFilePath, decodableQuery } from '../../files/path.ts';
import { sendStored } from '../../files/send-stored.ts';
import {
  locateWorkspace,
  WORKSPACE_OWNERS,
  type WorkspaceLocation,
  type WorkspaceOwner,
} from '../../files/workspace-owners.ts';
import { checkPath } from '../../input/path.ts';
import { route } from '../../route.ts';
import { closed } from '../../schemas/common.ts';
import { filePath } from '../../schemas/files.ts';
import type { StallMonitor } from '../../streaming/stall-monitor.ts';
import { DOWNLOAD_RESPONSES } from './download-responses.ts';

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
    responses: DOWNLOAD_RESPONSES,
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
  const { size, sha256 } = entry;
  const stored = {
    ...{ name: baseNameOf(path), mediaType: mediaTypeOf(path), size, sha256 },
    read: (offset: number, length: number | undefined) =>
      files.readContent({ ...location, path, version, offset, length }, call),
  };
  await sendStored(request, reply, stored, stallMonitor);
}
