import type { IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import { refuse, refuseField } from '../../../lib/errors.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import { callOf } from '../../authentication/authenticator.ts';
import type { Clients } from '../../clients.ts';
import { ok, type RouteResponse } from '../../envelope.ts';
import { BodyReader } from '../../files/body-reader.ts';
import { boundaryOf } from '../../files/multipart-reader.ts';
import { checkFilePath, decodableQuery } from '../../files/path.ts';
import { formUpload, putFileChanges, rawUpload, type WorkspaceUpload } from '../../files/upload.ts';
import {
  locateWorkspace,
  WORKSPACE_OWNERS,
  type WorkspaceLocation,
  type WorkspaceOwner,
} from '../../files/workspace-owners.ts';
import { idempotencyKey, occurrences } from '../../input/headers.ts';
import { checkPath } from '../../input/path.ts';
import { route } from '../../route.ts';
import { closed, optional } from '../../schemas/common.ts';
import { BINARY, EntryShape, filePath, serializeEntry, workspaceVersion } from '../../schemas/files.ts';
import { replayed } from '../replayed.ts';

const MULTIPART = /^multipart\/form-data[ \t]*(;|$)/i;

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
    '*/*': { schema: BINARY, example: 'The content of the file.' },
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
      'The body is a multipart form with any number of `files`, or the content of one file with its path in the query. ' +
      'Existing files are replaced and missing directories are created. All files of a request are written as one version of ' +
      'the workspace, or none is. Uploads have no overall time limit. They fail with REQUEST_TIMEOUT when less than 16 KiB ' +
      'arrive in `SERVICE_REQUEST_TIMEOUT_SECONDS`.',
    query: closed({
      path: optional(
        filePath('The path of the file that the body contains. Required unless the body is a form.'),
      ),
    }),
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
    createHandler({ clients, uploadStallMs }, readQuery) {
      return async (request, reply) => {
        const { raw } = request;
        const type = checkContentType(raw);
        const { path } = readQuery(decodableQuery(request));
        checkPath(request.params as Record<string, string>);
        const key = idempotencyKey(raw);
        const location = locateWorkspace(owner, request.params);
        const begin = MULTIPART.test(type)
          ? multipartUpload(type, path, location)
          : singleFileUpload(raw, path, location);
        const reader = new BodyReader(raw, uploadStallMs);
        try {
          const response = await writeFiles(clients, location, begin(reader), key, callOf(request));
          reply
            .code(201)
            .headers(response.headers ?? {})
            .type('application/json; charset=utf-8');
          return response.text;
        } finally {
          reader.discard();
        }
      };
    },
  });

export const uploadRoutes = WORKSPACE_OWNERS.map(uploadRoute);

async function writeFiles(
  { files }: Clients,
  location: WorkspaceLocation,
  upload: WorkspaceUpload,
  key: string,
  call: CallOptions,
): Promise<RouteResponse> {
  const { contents } = await files.writeContents(upload.messages, call);
  const changed = await files.changeWorkspace(
    {
      ...location,
      baseVersion: undefined,
      changes: putFileChanges(upload, contents),
      upload: true,
      idempotencyKey: key,
    },
    call,
  );
  const { entries, workspace } = changed;
  return ok(
    { entries: entries.map(serializeEntry), workspace_version: workspace?.version ?? 0 },
    replayed(changed.replayed),
  );
}

function multipartUpload(
  type: string,
  path: string | undefined,
  location: WorkspaceLocation,
): (reader: BodyReader) => WorkspaceUpload {
  const boundary = boundaryOf(type);
  if (path !== undefined) throw refuseField('/path', 'must be a part of the form, not a query parameter');
  return (reader) => formUpload(location, reader, boundary);
}

function singleFileUpload(
  raw: IncomingMessage,
  path: string | undefined,
  location: WorkspaceLocation,
): (reader: BodyReader) => WorkspaceUpload {
  if (path === undefined)
    throw refuseField('/path', 'is required in the query unless the body is multipart/form-data');
  const checked = checkFilePath(path);
  const contentLength = raw.headers['content-length'];
  const chunked = raw.headers['transfer-encoding'] !== undefined;
  // A request with neither header has no body, which is an empty file.
  const size = chunked ? undefined : Number(contentLength ?? 0);
  return (reader) => rawUpload(location, reader, checked, size);
}

/** Returns the Content-Type. Refuses encoded bodies with UNSUPPORTED_MEDIA_TYPE. */
function checkContentType({ rawHeaders, headers }: IncomingMessage): string {
  const [type = '', ...more] = occurrences(rawHeaders, 'content-type');
  if (more.length > 0) throw refuse('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type header must be given once.');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'A Content-Encoding is not supported. Send the body unencoded.');
  // Node decodes `chunked` only: with another coding the compressed bytes would be stored.
  if (!/^chunked$/i.test(headers['transfer-encoding'] ?? 'chunked'))
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'A Transfer-Encoding other than chunked is not supported.');
  return type;
}
