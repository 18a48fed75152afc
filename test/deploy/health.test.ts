import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerCredentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { type GrpcServer, serveGrpc } from '../../lib/grpc/server.ts';
import { openTls } from '../../lib/grpc/tls.ts';
import { createAuthority } from '../support/certificates.ts';
import { createFakeClock } from '../support/clock.ts';
import { createContext } from '../support/context.ts';
import { freePort } from '../support/port.ts';
import { scratch } from '../support/scratch.ts';
import { writeTlsFiles } from '../support/tls-files.ts';
import { ROOT } from './project.ts';

const servers: GrpcServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(1_000);
});

async function serve(check?: () => Promise<void>, credentials?: ServerCredentials): Promise<number> {
  const server = await serveGrpc('127.0.0.1:0', [], check, { credentials });
  servers.push(server);
  return server.port;
}

function check(
  port: number,
  env: Record<string, string> = {},
): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['deploy/health.js', `${port}`],
      { cwd: ROOT, env: { ...process.env, ...env } },
      (_, __, stderr) => resolve({ code: child.exitCode, stderr }),
    );
  });
}

describe('deploy/health.js', () => {
  it('exits with 0 when the process is ready', async () => {
    expect(await check(await serve())).toEqual({ code: 0, stderr: '' });
  });

  it('exits with 1 when the process is not ready', async () => {
    const port = await serve(async () => {
      throw new Error('the database is away');
    });
    expect(await check(port)).toEqual({ code: 1, stderr: 'not serving\n' });
  });

  it('uses the certificate of the process when calls are encrypted', async () => {
    const directory = await mkdtemp(join(scratch(), 'ahs-health-'));
    const authority = createAuthority('authority');
    const paths = await writeTlsFiles(directory, authority.issue({ names: ['sessions'] }), authority.cert);
    const tls = await openTls({ paths, clock: createFakeClock(), log: createContext('').log });
    const port = await serve(undefined, tls.server);
    const env = {
      SERVICE_GRPC_TLS_CERT: paths.cert,
      SERVICE_GRPC_TLS_KEY: paths.key,
      SERVICE_GRPC_TLS_CA: paths.ca,
    };
    expect(await check(port, env)).toEqual({ code: 0, stderr: '' });
    expect(await check(port)).toMatchObject({ code: 1 });
    await tls.stop();
    await rm(directory, { recursive: true });
  });

  it('exits with 1 when no process listens', async () => {
    expect(await check(await freePort())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
