import type { FastifyInstance } from 'fastify';
import type { EdgeContext } from '../context.ts';
import { serveArchive } from './files/archive.ts';
import { serveContent } from './files/content.ts';
import { serveUploads } from './files/upload.ts';

/** Everything about files in which bytes travel; the rest of their routes answers with JSON like any other. */
export function serveFiles(
  app: FastifyInstance,
  context: EdgeContext,
  limits: { uploadStallMs: number; downloadStallMs: number },
): void {
  serveUploads(app, context, limits.uploadStallMs);
  serveContent(app, context, limits.downloadStallMs);
  serveArchive(app, context, limits.downloadStallMs);
}
