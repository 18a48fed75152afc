import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { refuse, refuseField } from '../../../lib/errors.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { EdgeContext } from '../../context.ts';
import { callOf } from '../../door/door.ts';
import { type Answer, ok } from '../../envelope.ts';
import { Inflow } from '../../files/inflow.ts';
import { boundaryOf } from '../../files/multipart.ts';
import { checkFilePath, rawQuery } from '../../files/path.ts';
import { FILE_PLACES, type FilePlace, type Located, placeOf } from '../../files/places.ts';
import { formUpload, putsOf, rawUpload, type Upload } from '../../files/upload.ts';
import { idempotencyKey, occurrences } from '../../input/headers.ts';
import { checkPath } from '../../input/path.ts';
import { createQueryReader } from '../../input/query.ts';
import { closed, optional } from '../../schemas/common.ts';
import { EntryShape, filePath, shownEntry, workspaceVersion } from '../../schemas/files.ts';
import { urlOf } from '../../serve.ts';
import { replayed } from '../replayed.ts';

export const UPLOAD_PATH = '/files';
export const UploadQuery = closed({
  path: optional(filePath('The file that the body is. Not for a form, which has parts for everything.')),
});
export const Uploaded = Type.Object({
  entries: Type.Array(EntryShape),
  workspace_version: workspaceVersion,
});

const FORM = /^multipart\/form-data[ \t]*(;|$)/i;

/** Files come in as long as something comes, whatever their length; they are all kept, or none is. */
export function serveUploads(app: FastifyInstance, context: EdgeContext, stallMs: number): void {
  const readQuery = createQueryReader(UploadQuery);
  for (const at of FILE_PLACES) {
    app.route({
      method: 'POST',
      url: urlOf(at.path + UPLOAD_PATH),
      config: { unhurried: true, lasting: true },
      handler: handlerFor(at),
    });
  }

  function handlerFor(at: FilePlace) {
    return async (request: FastifyRequest, reply: FastifyReply) => {
      const { raw } = request;
      const type = contentTypeOf(raw);
      const query = readQuery(rawQuery(request));
      checkPath(request.params as Record<string, string>);
      const key = idempotencyKey(raw);
      const where = placeOf(at, request.params);
      const begin = FORM.test(type) ? formOf(type, query, where) : fileOf(raw, query, where);
      const inflow = new Inflow(raw, stallMs);
      try {
        const answer = await keep(where, begin(inflow), key, callOf(request));
        reply
          .code(201)
          .headers(answer.headers ?? {})
          .type('application/json; charset=utf-8');
        return answer.text;
      } finally {
        inflow.leave();
      }
    };
  }

  async function keep(
    where: Located,
    upload: Upload,
    idempotencyKey: string,
    call: CallOptions,
  ): Promise<Answer> {
    const { files } = context.clients;
    const { contents } = await files.writeContents(upload.messages, call);
    const changed = await files.changeWorkspace(
      { ...where, baseVersion: undefined, changes: putsOf(upload, contents), idempotencyKey },
      call,
    );
    const { entries, workspace } = changed;
    return ok(
      { entries: entries.map(shownEntry), workspace_version: workspace?.version ?? 0 },
      replayed(changed.replayed),
    );
  }
}

type Query = Static<typeof UploadQuery>;

function formOf(type: string, { path }: Query, where: Located): (inflow: Inflow) => Upload {
  const boundary = boundaryOf(type);
  if (path !== undefined) throw refuseField('/path', 'of a form is a part of it, and not in the query');
  return (inflow) => formUpload(where, inflow, boundary);
}

function fileOf(raw: IncomingMessage, { path }: Query, where: Located): (inflow: Inflow) => Upload {
  if (path === undefined)
    throw refuseField('/path', 'is required in the query, unless the body is multipart/form-data');
  const checked = checkFilePath(path);
  const announced = raw.headers['content-length'];
  const chunked = raw.headers['transfer-encoding'] !== undefined;
  // Without either there is no body, which is an empty file.
  const size = chunked ? undefined : Number(announced ?? 0);
  return (inflow) => rawUpload(where, inflow, checked, size);
}

/** Refuses a body that is not what it looks like. */
function contentTypeOf({ rawHeaders, headers }: IncomingMessage): string {
  const [type = '', ...more] = occurrences(rawHeaders, 'content-type');
  if (more.length > 0) throw refuse('UNSUPPORTED_MEDIA_TYPE', 'the Content-Type must be given once');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'the body must not have a Content-Encoding');
  // Node undoes the chunks and nothing else: what is compressed below them would be kept like that.
  if (!/^chunked$/i.test(headers['transfer-encoding'] ?? 'chunked'))
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'the body must not have a Transfer-Encoding other than chunked');
  return type;
}
