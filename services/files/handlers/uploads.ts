import { refuse, refuseField } from '../../../lib/errors.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import {
  type Change,
  type CreateUploadRequest,
  CreateUploadResponse,
  type FilesServiceDefinition,
  PlaceUploadsRequest,
  PlaceUploadsResponse,
  Upload,
  type UploadBegin,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import { ContentReceiver, forParts } from '../content-receiver.ts';
import { ancestorsOf, checkPath } from '../domain/paths.ts';
import { checkMediaType, checkName, unknownUpload } from '../part-fields.ts';
import { UPLOAD_LIFETIME_MS } from '../store/uploads.ts';
import { withUploadDeadline } from '../upload-deadline.ts';
import { uploadEvent } from '../upload-event.ts';
import { incomingUpload } from '../upload-messages.ts';
import type { FilesHandlerContext } from './context.ts';
import { newSession } from './locate.ts';
import { requestPart } from './request-parts.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'createUpload' | 'placeUploads'>;

const MAX_INITIAL_FILES = 1_000;

/** Uploads: bytes that a user sends before the message, tool result or conversation that refers to them. */
export function uploadHandlers(context: FilesHandlerContext): Methods {
  const { clock, uploads, workspaceChanges, limits, receiving } = context;
  const { ids } = receiving;

  return {
    async createUpload(requests, call) {
      const { userId: ownerId } = callerOf(call);
      const messages = requests[Symbol.asyncIterator]();
      const begin = await firstOf(messages);
      const mediaType = checkMediaType(begin.mediaType, '/media_type');
      const name = checkName(begin.name, '/name');
      const [content] = await withUploadDeadline(receiving, call.signal, (signal) => {
        const receiver = new ContentReceiver(forParts(receiving), ownerId, signal);
        return receiver.receive(incomingUpload(messages, begin.size, signal));
      });
      if (!content) throw new Error('the receiver returned no content for an upload');
      const now = clock.now();
      const expiresAt = new Date(now.getTime() + UPLOAD_LIFETIME_MS);
      const { size, sha256 } = content;
      const upload = { uploadId: ids('upl'), ...content, mediaType, name, expiresAt };
      const key = {
        caller: ownerId,
        key: begin.idempotencyKey,
        method: 'createUpload',
        request: Upload.encode({ uploadId: '', size, sha256, mediaType, name, expiresAt: undefined }),
        now,
      };
      const encoded = CreateUploadResponse.encode({ upload, replayed: false }).finish();
      const { answer, replayed } = await uploads.create(ownerId, upload, key, encoded, call);
      return { ...CreateUploadResponse.decode(answer), replayed };
    },

    async placeUploads(request, call) {
      const { sessionId, ownerId, assistantId, files } = request;
      const now = clock.now();
      const located = newSession(sessionId, ownerId, assistantId);
      if (files.length > MAX_INITIAL_FILES)
        throw refuse('INVALID_REQUEST', `A conversation can start with at most ${MAX_INITIAL_FILES} files.`);
      checkPaths(files.map(({ path }) => path));
      const uploadIds = [...new Set(files.map(({ uploadId }) => uploadId))];
      const viewer = { userId: ownerId };
      const found = await uploads.ofOwner(ownerId, uploadIds, now, { ...call, viewer });
      const changes = files.map(({ path, uploadId }, index): Change => {
        const upload = found.get(uploadId);
        if (!upload) throw unknownUpload(uploadId, `/${index}/upload_id`);
        const { contentId } = upload;
        return {
          kind: { $case: 'putFile', value: { path, contentId, executable: false, modifiedAt: undefined } },
        };
      });
      if (changes.length === 0 || request.checkOnly) return {};
      const change = {
        ...{
          located,
          baseVersion: undefined,
          upload: true,
          userId: ownerId,
          limits,
          now,
          signal: call.signal,
        },
        parts: [requestPart(() => changes, now)],
      };
      const key = {
        ...{ caller: located.workspaceId, key: sessionId, method: 'placeUploads', now },
        request: PlaceUploadsRequest.encode(request),
      };
      const checkAt = new Date(now.getTime() + receiving.graceMs);
      const { answer } = await workspaceChanges.place(
        change,
        key,
        { uploadIds, checkAt },
        (upload) => {
          const event = upload && uploadEvent(upload, { userId: ownerId, createdAt: now });
          return PlaceUploadsResponse.encode({ event }).finish();
        },
        call,
      );
      return PlaceUploadsResponse.decode(answer);
    },
  };
}

async function firstOf(messages: AsyncIterator<CreateUploadRequest>): Promise<UploadBegin> {
  const { done, value } = await messages.next();
  if (done || value.kind?.$case !== 'begin')
    throw refuse('INVALID_REQUEST', 'The first message of an upload must be `begin`.');
  return value.kind.value;
}

function checkPaths(paths: readonly string[]): void {
  const seen = new Set<string>();
  for (const [index, path] of paths.entries()) {
    checkPath(path, `/${index}/path`);
    if (seen.has(path)) throw refuseField(`/${index}/path`, 'is the path of another file of the request');
    seen.add(path);
  }
  for (const path of paths) {
    const file = ancestorsOf(path).find((directory) => seen.has(directory));
    if (file) throw refuse('NAME_TAKEN', `\`${file}\` cannot be a file and the directory of \`${path}\`.`);
  }
}
