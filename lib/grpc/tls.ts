import type { ChannelCredentials, ServerCredentials } from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Module } from '../modules.ts';
import { startPeriodicTask } from '../periodic-task.ts';
import { TlsChannelCredentials, TlsClientContext, TlsServerCredentials } from './tls-credentials.ts';
import {
  checkTlsFiles,
  readTlsFiles,
  type TlsFileProblem,
  type TlsMaterial,
  type TlsPaths,
} from './tls-files.ts';

/** Mutual TLS of the calls between services. */
export interface GrpcTls extends Module {
  /** Accepts only clients with a certificate of the CA. */
  server: ServerCredentials;
  /** Accepts only a server whose certificate is of the CA and names this host name or IP address. */
  channelTo(host: string): ChannelCredentials;
}

interface TlsOptions {
  paths: TlsPaths;
  clock: Clock;
  log: Log;
}

/** A changed file is in use after this time. The contents are compared, so any way to replace a file works. */
const RELOAD_MS = 5_000;

/**
 * Reads the files, and reads them again when they change. New connections then use the new files, and open ones stay. A
 * change to files that cannot be used is logged once, and the previous ones stay in use. Throws when the first files
 * cannot be used.
 */
export async function openTls({ paths, clock, log }: TlsOptions): Promise<GrpcTls> {
  const first = await readTlsFiles(paths);
  const material = checkTlsFiles(first, clock.now());
  if (isProblems(material)) throw new Error(textOf(material));
  const server = new TlsServerCredentials(material);
  const client = new TlsClientContext(material, (host, error) =>
    log.warn({ host, err: error }, 'the TLS connection to a service failed'),
  );
  let current = first.digest;
  let seen = first.digest;

  async function reload(): Promise<void> {
    const files = await readTlsFiles(paths);
    const isChanged = files.digest !== seen;
    seen = files.digest;
    if (files.digest === current) return;
    const checked = checkTlsFiles(files, clock.now());
    if (isProblems(checked)) {
      if (isChanged)
        log.error(
          { problem: textOf(checked) },
          'the changed TLS files are invalid; the previous ones stay in use',
        );
      return;
    }
    use(checked);
    current = files.digest;
  }

  function use(next: TlsMaterial): void {
    server.update(next);
    client.update(next);
    log.info({ not_after: next.notAfter }, 'the changed TLS files are in use');
  }

  const task = startPeriodicTask({
    clock,
    everyMs: RELOAD_MS,
    work: reload,
    onFailure: (error) => log.error({ err: error }, 'the TLS files cannot be reloaded'),
  });
  return {
    name: 'tls',
    server,
    channelTo: (host) => new TlsChannelCredentials(client, host),
    stop: () => task.stop(),
  };
}

function isProblems(checked: TlsMaterial | TlsFileProblem[]): checked is TlsFileProblem[] {
  return Array.isArray(checked);
}

function textOf(problems: readonly TlsFileProblem[]): string {
  return problems.map(({ file, problem }) => `the ${NAMES[file]} ${problem}`).join('; ');
}

const NAMES: Record<keyof TlsPaths, string> = {
  cert: 'certificate file',
  key: 'key file',
  ca: 'CA file',
};
