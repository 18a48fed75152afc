import { Type } from 'typebox';
import { refuse } from '../../../lib/errors.ts';
import { callOf } from '../../authentication/authenticator.ts';
import { ok } from '../../envelope.ts';
import { BodyReader } from '../../files/body-reader.ts';
import { boundaryOf } from '../../files/multipart-reader.ts';
import { checkContentType, MULTIPART } from '../../files/raw-body.ts';
import { formUpload } from '../../files/upload.ts';
import { locateWorkspace, WORKSPACE_OWNERS, type WorkspaceOwner } from '../../files/workspace-owners.ts';
import { idempotencyKey } from '../../input/headers.ts';
import { checkPath } from '../../input/path.ts';
import type { RawQuery } from '../../input/query.ts';
import { route } from '../../route.ts';
import { BINARY, EntryShape, serializeEntry, workspaceVersion } from '../../schemas/files.ts';
import { replayed } from '../replayed.ts';
import { sendJson } from './send-json.ts';
import { writeFiles } from './write-files.ts';

const Written = Type.Object(
  { entries: Type.Array(EntryShape), workspace_version: workspaceVersion },
  { title: 'WrittenEntries' },
);

const REQUEST_BODY = {
  required: true,
  content: {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['files'],
        properties: {
          path: {
            type: 'string',
            description: 'The target directory, as the first part. Default: the root of the workspace.',
          },
          files: {
            type: 'array',
            minItems: 1,
            items: BINARY,
            description:
              'The files. Each is written to its file name below `path`; the name can contain directories. Paths must be unique.',
          },
        },
      },
      example: { path: 'docs', files: ['# Report'] },
    },
  },
};

const uploadRoute = (owner: WorkspaceOwner) =>
  route.raw({
    method: 'POST',
    path: `${owner.path}/files`,
    operationId: `upload${owner.noun}Files`,
    tag: 'Files',
    summary: `Upload files to ${owner.phrase}`,
    description:
      'The body is a multipart form with any number of `files`. ' +
      'Existing files are replaced and missing directories are created. All files of a request are written as one version of ' +
      'the workspace, or none is. Uploads have no overall time limit. They fail with REQUEST_TIMEOUT when less than 16 KiB ' +
      `arrive in \`SERVICE_REQUEST_TIMEOUT_SECONDS\`. \`PUT ${owner.path}/files/content\` uploads one file without a form.`,
    headers: ['Idempotency-Key'],
    requestBody: REQUEST_BODY,
    responses: {
      201: {
        description: 'The written entries, in the order of the files.',
        data: Written,
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
        const type = checkContentType(raw);
        if (!MULTIPART.test(type)) throw notAForm(owner);
        const boundary = boundaryOf(type);
        readQuery(request.query as RawQuery);
        checkPath(request.params as Record<string, string>);
        const key = idempotencyKey(raw);
        const location = locateWorkspace(owner, request.params);
        const reader = new BodyReader(raw, uploadStallMs, clock);
        try {
          const upload = formUpload(location, reader, boundary);
          const written = await writeFiles(clients, location, upload, key, callOf(request));
          const data = {
            entries: written.entries.map(serializeEntry),
            workspace_version: written.version,
          };
          return sendJson(reply, 201, ok(data, replayed(written.replayed)));
        } finally {
          reader.discard();
        }
      };
    },
  });

export const uploadRoutes = WORKSPACE_OWNERS.map(uploadRoute);

function notAForm({ path }: WorkspaceOwner) {
  return refuse(
    'UNSUPPORTED_MEDIA_TYPE',
    `The body must be multipart/form-data. Send the bytes of one file with PUT ${path}/files/content?path=….`,
  );
}
