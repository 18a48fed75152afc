import { callOf } from '../../authentication/authenticator.ts';
import { ok } from '../../envelope.ts';
import { BodyReader } from '../../files/body-reader.ts';
import { checkFilePath, decodableQuery } from '../../files/path.ts';
import { announcedLength, checkRawBody } from '../../files/raw-body.ts';
import { rawUpload } from '../../files/upload.ts';
import { locateWorkspace, WORKSPACE_OWNERS, type WorkspaceOwner } from '../../files/workspace-owners.ts';
import { idempotencyKey } from '../../input/headers.ts';
import { checkPath } from '../../input/path.ts';
import { requiredFileState } from '../../input/preconditions.ts';
import { route } from '../../route.ts';
import { closed } from '../../schemas/common.ts';
import { ChangedEntry, filePath, RAW_BODY, serializeEntry } from '../../schemas/files.ts';
import { replayed } from '../replayed.ts';
import { sendJson } from './send-json.ts';
import { writeFiles } from './write-files.ts';

const putContentRoute = (owner: WorkspaceOwner) =>
  route.raw({
    method: 'PUT',
    path: `${owner.path}/files/content`,
    operationId: `put${owner.noun}FileContent`,
    tag: 'Files',
    summary: `Upload one file to ${owner.phrase}`,
    description:
      'The body is the content of the file, with any Content-Type but multipart/form-data. An existing file is replaced and ' +
      'missing directories are created. Uploads have no overall time limit. They fail with REQUEST_TIMEOUT when less than ' +
      '16 KiB arrive in `SERVICE_REQUEST_TIMEOUT_SECONDS`. `If-Match` with the ETag of the content replaces only that ' +
      'content, and `If-None-Match: *` writes only a new file. Otherwise the response is VERSION_CONFLICT.',
    query: closed({ path: filePath('The path of the file.') }),
    headers: ['Idempotency-Key', 'If-Match', 'If-None-Match'],
    requestBody: RAW_BODY,
    responses: {
      201: {
        description: 'The file was written.',
        data: ChangedEntry,
      },
    },
    errors: [
      owner.notFound,
      ...owner.changeErrors,
      'UNSUPPORTED_MEDIA_TYPE',
      'NAME_TAKEN',
      'FILE_TOO_LARGE',
      'QUOTA_EXCEEDED',
    ],
    config: { slowBody: true, longLived: true },
    compressed: true,
    createHandler({ clients, clock, uploadStallMs }, readQuery) {
      return async (request, reply) => {
        const { raw } = request;
        checkRawBody(raw, `POST ${owner.path}/files accepts forms.`);
        const path = checkFilePath(readQuery(decodableQuery(request)).path);
        checkPath(request.params as Record<string, string>);
        const key = idempotencyKey(raw);
        const required = requiredFileState(raw);
        const location = locateWorkspace(owner, request.params);
        const reader = new BodyReader(raw, uploadStallMs, clock);
        try {
          const upload = { ...rawUpload(location, reader, path, announcedLength(raw)), required };
          const {
            entries,
            version,
            replayed: isReplay,
          } = await writeFiles(clients, location, upload, key, callOf(request));
          const data = { entry: entries[0] && serializeEntry(entries[0]), workspace_version: version };
          return sendJson(reply, 201, ok(data, replayed(isReplay)));
        } finally {
          reader.discard();
        }
      };
    },
  });

export const putContentRoutes = WORKSPACE_OWNERS.map(putContentRoute);
