import { execFile } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../lib/db/embedded/port.ts';
import { type GrpcServer, serveGrpc } from '../../lib/grpc/network.ts';
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

function ask(port: number): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ['deploy/health.ts', `${port}`], { cwd: ROOT }, (_, __, said) =>
      resolve({ code: child.exitCode, said }),
    );
  });
}

describe('deploy/health.ts', () => {
  it('ends with 0 when the process can do its work', async () => {
    expect(await ask(await serve())).toEqual({ code: 0, said: '' });
  });

  it('ends with 1 when the process cannot', async () => {
    const port = await serve(async () => {
      throw new Error('the database is away');
    });
    expect(await ask(port)).toEqual({ code: 1, said: 'not serving\n' });
  });

  it('ends with 1 when nobody is there', async () => {
    expect(await ask(await freePort())).toMatchObject({
      code: 1,
      said: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
