import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuse, refuseField } from '../../../lib/errors.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import { nameOf } from '../../../lib/paths.ts';
import type { Entry } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { EdgeContext } from '../../context.ts';
import { callOf } from '../../door/door.ts';
import { answerBare, deliver } from '../../files/delivery.ts';
import { attachment } from '../../files/disposition.ts';
import { mediaTypeOf } from '../../files/media-type.ts';
import { checkFilePath, rawQuery } from '../../files/path.ts';
import { FILE_PLACES, type FilePlace, type Located, placeOf } from '../../files/places.ts';
import { lengthOf, type Range, rangeOf, standingOf } from '../../files/range.ts';
import { checkPath } from '../../input/path.ts';
import { createQueryReader } from '../../input/query.ts';
import { closed } from '../../schemas/common.ts';
import { filePath } from '../../schemas/files.ts';
import { urlOf } from '../../serve.ts';

export const CONTENT_PATH = '/files/content';
export const ContentQuery = closed({ path: filePath('The file.') });

/** The most bytes of one answer. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The bytes of a file, or of a part of it. */
export function serveContent(app: FastifyInstance, context: EdgeContext, stallMs: number): void {
  const readQuery = createQueryReader(ContentQuery);
  for (const at of FILE_PLACES)
    app.route({
      method: 'GET',
      url: urlOf(at.path + CONTENT_PATH),
      handler: handlerFor(at),
      config: { lasting: true },
    });

  function handlerFor(at: FilePlace) {
    return async (request: FastifyRequest, reply: FastifyReply) => {
      const path = checkFilePath(readQuery(rawQuery(request)).path);
      checkPath(request.params as Record<string, string>);
      await answer(request, reply, placeOf(at, request.params), path, callOf(request));
    };
  }

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    where: Located,
    path: string,
    call: CallOptions,
  ): Promise<void> {
    const { files } = context.clients;
    const { entry, version } = await files.getEntry({ ...where, path }, call);
    if (entry?.kind !== 'file')
      throw refuseField('/path', `is a ${entry?.kind}, and only files have content`);
    const etag = `"${entry.sha256}"`;
    const validity = { etag, 'cache-control': 'private, no-cache' };
    const standing = standingOf(request.raw, etag);
    if (standing === 'changed')
      throw refuse('VERSION_CONFLICT', 'the content is not the one that If-Match names');
    if (standing === 'known') return answerBare(reply, 304, validity);
    const range = partOf(request, reply, entry, etag);
    const headers = { ...validity, ...describe(entry, range) };
    if (request.method === 'HEAD') return answerBare(reply, 200, headers);
    const asked = { ...where, path, version, offset: range?.first ?? 0, length: range && lengthOf(range) };
    await deliver(reply, range ? 206 : 200, headers, files.readContent(asked, call), stallMs);
  }
}

/** What is asked for, if it may be: a client that asks for the head alone learns how long the file is. */
function partOf(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  { size }: Entry,
  etag: string,
): Range | undefined {
  const range = satisfiable(() => rangeOf(raw, size, etag), reply, size);
  const length = range ? lengthOf(range) : size;
  if (raw.method === 'HEAD' || length <= MAX_ANSWER_BYTES) return range;
  throw refuse(
    'FILE_TOO_LARGE',
    `one answer has at most ${MAX_ANSWER_BYTES} bytes, and the file has ${size}: ask for ranges`,
  );
}

function satisfiable(find: () => Range | undefined, reply: FastifyReply, size: number): Range | undefined {
  try {
    return find();
  } catch (error) {
    reply.header('content-range', `bytes */${size}`);
    throw error;
  }
}

function describe({ path, size }: Entry, range: Range | undefined): Record<string, string | number> {
  return {
    'accept-ranges': 'bytes',
    'content-type': mediaTypeOf(path),
    'content-disposition': attachment(nameOf(path)),
    'content-length': range ? lengthOf(range) : size,
    ...(range ? { 'content-range': `bytes ${range.first}-${range.last}/${size}` } : {}),
  };
}
