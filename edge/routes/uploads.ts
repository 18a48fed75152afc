import { mediaTypeOf } from '../../lib/media-type.ts';
import { MAX_PART_BYTES } from '../../lib/part-limits.ts';
import { callOf } from '../authentication/authenticator.ts';
import { ok } from '../envelope.ts';
import { BodyReader } from '../files/body-reader.ts';
import { decodableQuery } from '../files/path.ts';
import { announcedLength, checkRawBody } from '../files/raw-body.ts';
import { uploadMessages } from '../files/upload.ts';
import { idempotencyKey } from '../input/headers.ts';
import { type Route, route } from '../route.ts';
import { closed, optional } from '../schemas/common.ts';
import { mediaType, partName, RAW_BODY, serializeUpload, UploadShape } from '../schemas/files.ts';
import { sendJson } from './files/send-json.ts';
import { replayed } from './replayed.ts';

const MIB = 1024 * 1024;

/** Uploads that messages, tool results and new conversations refer to. */
export const uploadsRoutes: Route[] = [
  route.raw({
    method: 'POST',
    path: '/uploads',
    operationId: 'createUpload',
    tag: 'Files',
    summary: 'Create an upload',
    description:
      'The body is the bytes, with any Content-Type but multipart/form-data. Image and file parts of messages and `files` of ' +
      'conversations refer to the upload by its `upload_id`. Only the caller can use it. It counts against the storage quota ' +
      'of the caller, and is deleted 24 hours after its creation or its last use. Messages keep its bytes. Uploads have no ' +
      'overall time limit. They fail with REQUEST_TIMEOUT when less than 16 KiB arrive in `SERVICE_REQUEST_TIMEOUT_SECONDS`.',
    query: closed({
      media_type: optional(
        mediaType(
          'The media type of the bytes. Default: the type that `name` implies, or application/octet-stream.',
        ),
      ),
      name: optional(partName('The name of the file. Default: none.')),
    }),
    headers: ['Idempotency-Key'],
    requestBody: RAW_BODY,
    responses: { 201: { description: 'The upload.', data: UploadShape } },
    errors: ['UNSUPPORTED_MEDIA_TYPE', 'FILE_TOO_LARGE', 'QUOTA_EXCEEDED'],
    config: { slowBody: true, longLived: true },
    compressed: true,
    createHandler({ clients, clock, uploadStallMs }, readQuery) {
      return async (request, reply) => {
        const { raw } = request;
        checkRawBody(raw, `Send at most ${MAX_PART_BYTES / MIB} MiB.`);
        const { media_type: type = '', name = '' } = readQuery(decodableQuery(request));
        const begin = {
          mediaType: type || mediaTypeOf(name),
          name,
          size: announcedLength(raw),
          idempotencyKey: idempotencyKey(raw),
        };
        const reader = new BodyReader(raw, uploadStallMs, clock);
        try {
          const messages = uploadMessages(begin, reader);
          const answer = await clients.files.createUpload(messages, callOf(request));
          return sendJson(reply, 201, ok(serializeUpload(answer.upload), replayed(answer.replayed)));
        } finally {
          reader.discard();
        }
      };
    },
  }),
];
