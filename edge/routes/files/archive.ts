import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { nameOf } from '../../../lib/paths.ts';
import type { EdgeContext } from '../../context.ts';
import { callOf } from '../../door/door.ts';
import { deliver } from '../../files/delivery.ts';
import { attachment } from '../../files/disposition.ts';
import { checkDirectoryPath, rawQuery } from '../../files/path.ts';
import { FILE_PLACES, type FilePlace, placeOf } from '../../files/places.ts';
import { checkPath } from '../../input/path.ts';
import { createQueryReader } from '../../input/query.ts';
import { closed, optional } from '../../schemas/common.ts';
import { filePath } from '../../schemas/files.ts';
import { urlOf } from '../../serve.ts';
import { MAX_ANSWER_BYTES } from './content.ts';

export const ARCHIVE_PATH = '/files/archive';
export const ArchiveQuery = closed({
  path: optional(filePath('A directory; the whole workspace when absent.')),
});

/** A directory as a tar archive. */
export function serveArchive(app: FastifyInstance, { clients }: EdgeContext, stallMs: number): void {
  const readQuery = createQueryReader(ArchiveQuery);
  for (const at of FILE_PLACES)
    app.route({
      method: 'GET',
      url: urlOf(at.path + ARCHIVE_PATH),
      handler: handlerFor(at),
      config: { lasting: true },
    });

  function handlerFor(at: FilePlace) {
    return async (request: FastifyRequest, reply: FastifyReply) => {
      const path = checkDirectoryPath(readQuery(rawQuery(request)).path ?? '');
      const params = request.params as Record<string, string>;
      checkPath(params);
      const { place } = placeOf(at, params);
      const archive = clients.files.readArchive({ place, path, maxBytes: MAX_ANSWER_BYTES }, callOf(request));
      const headers = {
        'content-type': 'application/x-tar',
        'content-disposition': attachment(`${nameOf(path) || params[at.parameter]}.tar`),
      };
      await deliver(reply, 200, headers, archive, stallMs);
    };
  }
}
