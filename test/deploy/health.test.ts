import { execFile } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { type GrpcServer, serveGrpc } from '../../lib/grpc/server.ts';
import { freePort } from '../support/port.ts';
import { ROOT } from './project.ts';

const servers: GrpcServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(1_000);
});

async function serve(check?: () => Promise<void>): Promise<number> {
  const server = await serveGrpc('127.0.0.1:0', [], check);
  servers.push(server);
  return server.port;
}

function check(port: number): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['deploy/health.ts', `${port}`],
      { cwd: ROOT },
      (_, __, stderr) => resolve({ code: child.exitCode, stderr }),
    );
  });
}

describe('deploy/health.ts', () => {
  it('exits with 0 when the process is ready', async () => {
    expect(await check(await serve())).toEqual({ code: 0, stderr: '' });
  });

  it('exits with 1 when the process is not ready', async () => {
    const port = await serve(async () => {
      throw new Error('the database is away');
    });
    expect(await check(port)).toEqual({ code: 1, stderr: 'not serving\n' });
  });

  it('exits with 1 when no process listens', async () => {
    expect(await check(await freePort())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
