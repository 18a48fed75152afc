import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import {
  type ChannelCredentials,
  credentials,
  Client as GrpcClient,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusal, refuse } from '../../../lib/errors.ts';
import { Instances } from '../../../lib/grpc/calls/instances.ts';
import { streamTransport } from '../../../lib/grpc/calls/transport.ts';
import { openChannel } from '../../../lib/grpc/channel.ts';
import { createClient } from '../../../lib/grpc/client.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { serveGrpc } from '../../../lib/grpc/server.ts';
import { openTls } from '../../../lib/grpc/tls.ts';
import type { TlsPaths } from '../../../lib/grpc/tls-files.ts';
import type { Transport } from '../../../lib/grpc/transport.ts';
import { SessionsServiceDefinition as Service } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { captureLog } from '../../support/captured-log.ts';
import { type Certificate, createAuthority } from '../../support/certificates.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { createContext } from '../../support/context.ts';
import { fakeEndpoint } from '../../support/fake-service.ts';
import { scratch } from '../../support/scratch.ts';
import { REPLACEMENTS, writeTlsFiles } from '../../support/tls-files.ts';
import { advanceUntil } from '../../support/wait.ts';

const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;
const SECONDS = 1_000;
/** Longer than a frame of a call stream, so the call has a gRPC call of its own. */
const LONG_TEXT = 'x'.repeat(100_000);

const context = createContext('');
const authority = createAuthority('authority');
const stranger = createAuthority('stranger');

const FOLLOW = { sessionId: 'ses_1', afterSeq: 0, fromNow: false, types: [], untilCaughtUp: false };
const UNREACHABLE = { code: 'DEPENDENCY_UNAVAILABLE' };

const reached = (length: number) => ({ code: 'SESSION_NOT_FOUND', message: `${length} characters` });

/** Advances the clock past checks of the files until the condition holds. */
function advance(clock: FakeClock, condition: () => boolean | Promise<boolean>): Promise<boolean> {
  return advanceUntil('the changed files are checked', () => clock.advance(5 * SECONDS), condition);
}

/** Lets one more check of the files run. */
async function settle(clock: FakeClock): Promise<void> {
  clock.advance(5 * SECONDS);
  await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The status of a call by a program in any language. */
async function statusWith(channel: ChannelCredentials, port: number): Promise<number | undefined> {
  const client = new GrpcClient(`localhost:${port}`, channel);
  const raw = (bytes: Buffer) => bytes;
  try {
    return await new Promise((resolve) => {
      const path = `/${Service.fullName}/GetSession`;
      const onEnd = (error: ServiceError | null) => resolve(error?.code);
      client.makeUnaryRequest(path, raw, raw, Buffer.alloc(0), new Metadata(), onEnd);
    });
  } finally {
    client.close();
  }
}

describe('TLS between services', () => {
  let scratchDirectory: string;
  beforeAll(async () => {
    scratchDirectory = await mkdtemp(join(scratch(), 'ahs-grpc-tls-'));
  });
  afterAll(() => rm(scratchDirectory, { recursive: true, force: true }));

  const write = (certificate: Certificate, ca = authority.cert) =>
    writeTlsFiles(scratchDirectory, certificate, ca);

  /** A service. Its clients have files of their own. */
  async function open(certificate = authority.issue()) {
    const stack = new AsyncDisposableStack();
    const clock = createFakeClock();
    const { log, lines } = captureLog();
    const paths = await write(certificate);
    const released = Promise.withResolvers<void>();
    const openFiles = async (files: TlsPaths) => {
      const tls = await openTls({ paths: files, clock, log });
      stack.defer(() => tls.stop());
      return tls;
    };
    const handlers: Partial<Handlers<typeof Service>> = {
      async getSession({ sessionId }) {
        throw refuse('SESSION_NOT_FOUND', `${sessionId.length} characters`);
      },
      async *follow() {
        yield { events: [], seq: 1, caughtUp: false };
        await released.promise;
        yield { events: [], seq: 2, caughtUp: true };
      },
    };
    const endpoint = fakeEndpoint(Service, handlers, 'edge', { ...context, clock });
    const server = await serveGrpc('127.0.0.1:0', [endpoint], undefined, {
      credentials: (await openFiles(paths)).server,
    });
    stack.defer(() => server.stop(1_000));
    const clientOf = (transport: Transport) =>
      createClient({ contract: Service, transport, self: 'edge', secret: context.serviceSecret, clock });
    return {
      clock,
      lines,
      paths,
      port: server.port,
      release: released.resolve,
      async connect({ host = '127.0.0.1', files = authority.issue(), ca = authority.cert } = {}) {
        const tls = await openFiles(await write(files, ca));
        const channel = openChannel(`${host}:${server.port}`, { clock, tls });
        stack.defer(() => channel.close());
        return { channel, ...clientOf(channel.transport(Service)) };
      },
      /** Connects to the addresses of a name. */
      async connectByName(name: string, addresses: string[]) {
        const tls = await openFiles(await write(authority.issue()));
        const resolve = async () => addresses;
        const instances = new Instances(`${name}:${server.port}`, clock, { resolve, tls });
        stack.defer(() => instances.close());
        return clientOf(streamTransport(instances, Service));
      },
      /** The fingerprint of the certificate that a new connection gets. */
      async presented(): Promise<string> {
        const { cert, key } = authority.issue();
        const socket = connectTls({
          port: server.port,
          cert,
          key,
          ca: authority.cert,
          ALPNProtocols: ['h2'],
        });
        await once(socket, 'secureConnect');
        const { fingerprint256 } = socket.getPeerCertificate();
        socket.destroy();
        return fingerprint256;
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  }

  it('carries short and long unary calls, streams and health checks', async () => {
    await using service = await open();
    const client = await service.connect();
    await expect(client.getSession({ sessionId: 'ses_1' })).rejects.toMatchObject(reached(5));
    await expect(client.getSession({ sessionId: LONG_TEXT })).rejects.toMatchObject(
      reached(LONG_TEXT.length),
    );
    service.release();
    expect(await Array.fromAsync(client.follow(FOLLOW))).toHaveLength(2);
    await client.channel.check(Service);
    expect(service.lines).toEqual([]);
  });

  it('verifies the name of a service with several addresses', async () => {
    await using service = await open(authority.issue({ names: ['sessions.internal'] }));
    const client = await service.connectByName('sessions.internal', ['127.0.0.1']);
    await expect(client.getSession({ sessionId: 'ses_1' })).rejects.toMatchObject(reached(5));
    const other = await service.connectByName('agents.internal', ['127.0.0.1']);
    await expect(other.getSession({ sessionId: 'ses_1' })).rejects.toMatchObject(UNREACHABLE);
    expect(service.lines).toEqual([
      expect.objectContaining({ level: 'warn', host: 'agents.internal', err: expect.anything() }),
    ]);
  });

  it('refuses a service whose certificate does not name its address', async () => {
    await using service = await open(authority.issue({ names: ['localhost', '127.0.0.2'] }));
    const client = await service.connect();
    await expect(client.getSession({ sessionId: 'ses_1' })).rejects.toMatchObject(UNREACHABLE);
    const local = await service.connect({ host: 'localhost' });
    await expect(local.getSession({ sessionId: 'ses_1' })).rejects.toMatchObject(reached(5));
  });

  it('refuses a service with a certificate of another CA', async () => {
    await using service = await open();
    const client = await service.connect({ ca: stranger.cert });
    await expect(client.getSession({ sessionId: 'ses_1' })).rejects.toMatchObject(UNREACHABLE);
  });

  it('refuses clients with a certificate of another CA, without one and without TLS', async () => {
    await using service = await open();
    const client = await service.connect({ files: stranger.issue() });
    await expect(client.getSession({ sessionId: 'ses_1' })).rejects.toMatchObject(UNREACHABLE);
    const ca = Buffer.from(authority.cert);
    for (const channel of [credentials.createSsl(ca), credentials.createInsecure()])
      expect(await statusWith(channel, service.port)).toBe(UNAVAILABLE);
    const { cert, key } = authority.issue();
    const channel = credentials.createSsl(ca, Buffer.from(key), Buffer.from(cert));
    // The certificate is accepted, and the service token is missing.
    expect(await statusWith(channel, service.port)).toBe(UNAUTHENTICATED);
  });

  it('refuses to start with files that cannot be used', async () => {
    const paths = await write({ ...authority.issue(), key: stranger.key });
    const opening = openTls({ paths, clock: createFakeClock(), log: context.log });
    await expect(opening).rejects.toThrow('the key file does not match the certificate');
  });

  describe('when a file changes', () => {
    it.each(REPLACEMENTS)('uses %s for new connections and keeps open ones', async (_, replace) => {
      await using service = await open();
      const client = await service.connect();
      const stream = client.follow(FOLLOW)[Symbol.asyncIterator]();
      await stream.next();
      const next = authority.issue();
      await replace(service.paths, next);
      const expected = new X509Certificate(next.cert).fingerprint256;
      await advance(service.clock, async () => (await service.presented()) === expected);
      const another = await service.connect();
      await expect(another.getSession({ sessionId: 'ses_1' })).rejects.toMatchObject(reached(5));
      service.release();
      expect(await stream.next()).toMatchObject({ value: { seq: 2 } });
    });

    it('uses a new CA for new connections', async () => {
      await using service = await open();
      await expect((await service.connect()).getSession({ sessionId: '' })).rejects.toMatchObject(reached(0));
      await writeFile(service.paths.ca, stranger.cert);
      const client = await service.connect({ files: stranger.issue() });
      await advance(service.clock, async () => {
        const error = await client.getSession({ sessionId: '' }).catch((error: unknown) => error);
        return error instanceof Refusal && error.code === 'SESSION_NOT_FOUND';
      });
    });

    it('keeps the previous files and logs once while the new ones are invalid', async () => {
      await using service = await open();
      const before = await service.presented();
      const next = authority.issue();
      await writeFile(service.paths.cert, next.cert);
      await advance(service.clock, () => service.lines.length > 0);
      for (let count = 0; count < 5; count++) await settle(service.clock);
      expect(service.lines).toEqual([
        expect.objectContaining({ level: 'error', problem: 'the key file does not match the certificate' }),
      ]);
      expect(await service.presented()).toBe(before);
      await writeFile(service.paths.key, next.key);
      const expected = new X509Certificate(next.cert).fingerprint256;
      await advance(service.clock, async () => (await service.presented()) === expected);
    });

    it('logs each change to invalid files', async () => {
      await using service = await open();
      await rm(service.paths.ca);
      await advance(service.clock, () => service.lines.length === 1);
      await writeFile(service.paths.ca, 'nothing');
      await advance(service.clock, () => service.lines.length === 2);
      expect(service.lines.map(({ problem }) => problem)).toEqual([
        'the CA file cannot be read (ENOENT)',
        'the CA file contains no PEM certificate',
      ]);
    });
  });
});
