import { baseNameOf } from '../../../lib/paths.ts';
import { callOf } from '../../authentication/authenticator.ts';
import { attachment } from '../../files/disposition.ts';
import { checkDirectoryPath, decodableQuery } from '../../files/path.ts';
import { sendContent } from '../../files/send-content.ts';
import { MAX_DOWNLOAD_BYTES } from '../../files/send-stored.ts';
import { locateWorkspace, WORKSPACE_OWNERS, type WorkspaceOwner } from '../../files/workspace-owners.ts';
import { checkPath } from '../../input/path.ts';
import { route } from '../../route.ts';
import { closed, optional } from '../../schemas/common.ts';
import { BINARY, filePath } from '../../schemas/files.ts';

const archiveRoute = (owner: WorkspaceOwner) =>
  route.raw({
    method: 'GET',
    path: `${owner.path}/files/archive`,
    operationId: `get${owner.noun}FileArchive`,
    tag: 'Files',
    summary: `Download a directory of ${owner.phrase} as a tar archive`,
    description: 'The archive has at most 64 MiB and the POSIX pax format.',
    query: closed({ path: optional(filePath('A directory. Default: the whole workspace.')) }),
    responses: {
      200: {
        description: 'The archive.',
        headers: ['Content-Disposition'],
        content: { 'application/x-tar': { schema: BINARY, example: 'The archive.' } },
      },
    },
    errors: [owner.notFound, 'FILE_NOT_FOUND', 'FILE_TOO_LARGE', 'CONTENT_DAMAGED'],
    config: { longLived: true },
    createHandler({ clients, stallMonitor }, readQuery) {
      return async (request, reply) => {
        const path = checkDirectoryPath(readQuery(decodableQuery(request)).path ?? '');
        const params = request.params as Record<string, string>;
        checkPath(params);
        const { place } = locateWorkspace(owner, params);
        const archive = clients.files.readArchive(
          { place, path, maxBytes: MAX_DOWNLOAD_BYTES },
          callOf(request),
        );
        const headers = {
          'content-type': 'application/x-tar',
          'content-disposition': attachment(`${baseNameOf(path) || params[owner.parameter]}.tar`),
        };
        await sendContent(reply, 200, headers, archive, stallMonitor);
      };
    },
  });

export const archiveRoutes = WORKSPACE_OWNERS.map(archiveRoute);
