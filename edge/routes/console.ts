import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { FallbackHandler } from '../plugins/not-found.ts';
import { serveBuilt } from './console/built.ts';
import { serveFromSource } from './console/dev-server.ts';

/** The output folder of the console build. */
export const BUILT = fileURLToPath(new URL('../../console/dist/', import.meta.url));

interface ConsoleSource {
  folder: string;
  /** The origin of Vite's dev server, for development of the console. */
  devServer: string | undefined;
}

/** Serves the console from the folder of its build, or from a dev server. */
export function serveConsole(
  app: FastifyInstance,
  { folder, devServer }: ConsoleSource,
): Promise<FallbackHandler> {
  return devServer === undefined ? serveBuilt(app, folder) : serveFromSource(app, devServer);
}
