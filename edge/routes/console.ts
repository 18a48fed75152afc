import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { LastResort } from '../plugins/unknown.ts';
import { serveBuilt } from './console/built.ts';
import { serveFromSource } from './console/dev-server.ts';

/** Where a build puts it. */
export const BUILT = fileURLToPath(new URL('../../console/dist/', import.meta.url));

export interface ConsoleSource {
  folder: string;
  /** The origin of Vite's dev server, for those who work on the console. */
  devServer: string | undefined;
}

/** The console: from a folder where it was built, or from the server of those who work on it. */
export function serveConsole(
  app: FastifyInstance,
  { folder, devServer }: ConsoleSource,
): Promise<LastResort> {
  return devServer === undefined ? serveBuilt(app, folder) : serveFromSource(app, devServer);
}
