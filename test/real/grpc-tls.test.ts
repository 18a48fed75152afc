import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import {
  type ChannelCredentials,
  credentials,
  Client as GrpcClient,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendTrigger, type Webhook } from '../support/api.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { scratch } from '../support/scratch.ts';
import { readStream } from '../support/stream.ts';
import { TARGETS } from '../support/targets.ts';
import { until } from '../support/wait.ts';

const run = promisify(execFile);
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const SENDERS = 2;
const POLL = { timeout: 20_000 };

/** Creates a CA with the commands of docs/how-to/operations.md. */
async function createAuthority(directory: string, name: string): Promise<void> {
  const files = ['-keyout', join(directory, `${name}.key`), '-out', join(directory, `${name}.pem`)];
  await run('openssl', ['req', '-x509', ...KEY, '-days', '3650', '-subj', `/CN=${name}`, ...files]);
}

/** Creates a directory with the certificate and the key of a process. */
async function issue(directory: string, authority: string, name: string): Promise<void> {
  const target = join(directory, name);
  await mkdir(target);
  const signer = ['-CA', join(directory, `${authority}.pem`), '-CAkey', join(directory, `${authority}.key`)];
  const extensions = [
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-addext', 'basicConstraints=CA:FALSE'],
    ...['-addext', 'extendedKeyUsage=serverAuth,clientAuth'],
  ];
  const files = ['-keyout', join(target, 'key.pem'), '-out', join(target, 'cert.pem')];
  await run('openssl', ['req', '-x509', ...signer, ...KEY, '-subj', `/CN=${name}`, ...extensions, ...files]);
  await copyFile(join(directory, `${authority}.pem`), join(target, 'ca.pem'));
}

describe('TLS between processes', () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let fleet: Fleet;
  let webhook: Webhook;
  let session: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(scratch(), 'ahs-fleet-tls-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    await createAuthority(directory, 'first');
    await createAuthority(directory, 'second');
    await issue(directory, 'first', 'one');
    await use('one');
    fleet = stack.use(
      await startFleet({
        SERVICE_GRPC_TLS_CERT: join(directory, 'current/cert.pem'),
        SERVICE_GRPC_TLS_KEY: join(directory, 'current/key.pem'),
        SERVICE_GRPC_TLS_CA: join(directory, 'current/ca.pem'),
      }),
    );
    const agent = await fleet.api.createAgent();
    webhook = await fleet.api.createWebhook(agent);
    const { body } = await fleet.api.post(`/agents/${agent}/conversations`);
    session = String(body.data.session_id);
  });
  afterAll(() => stack.disposeAsync());

  /** Replaces all files at once, as a volume of Kubernetes does. */
  async function use(name: string): Promise<void> {
    await symlink(join(directory, name), join(directory, 'next'));
    await rename(join(directory, 'next'), join(directory, 'current'));
  }

  async function credentialsOf(name: string): Promise<ChannelCredentials> {
    const [ca, key, cert] = await Promise.all(
      ['ca.pem', 'key.pem', 'cert.pem'].map((file) => readFile(join(directory, name, file))),
    );
    return credentials.createSsl(ca ?? null, key, cert);
  }

  /** The gRPC status of a health check of `sessions` by another program. */
  async function statusWith(channel: ChannelCredentials): Promise<number> {
    const client = new GrpcClient(fleet.addressOf('sessions'), channel, {
      'grpc.ssl_target_name_override': 'localhost',
    });
    const raw = (bytes: Buffer) => bytes;
    try {
      return await new Promise((resolve) => {
        const path = '/grpc.health.v1.Health/Check';
        const onEnd = (error: ServiceError | null) => resolve(error?.code ?? status.OK);
        client.makeUnaryRequest(path, raw, raw, Buffer.alloc(0), onEnd);
      });
    } finally {
      client.close();
    }
  }

  /** Waits until every program presents the certificate to new connections. */
  async function inUse(name: string): Promise<void> {
    const { fingerprint256 } = new X509Certificate(await readFile(join(directory, name, 'cert.pem')));
    for (const target of TARGETS)
      await until(`${target} uses ${name}`, async () => (await presented(target, name)) === fingerprint256);
  }

  /** The fingerprint of the certificate that a program presents to a client with these files. */
  async function presented(target: string, name: string): Promise<string | undefined> {
    const port = Number(fleet.addressOf(target).split(':')[1]);
    const [key, cert] = await Promise.all(
      ['key.pem', 'cert.pem'].map((file) => readFile(join(directory, name, file))),
    );
    const socket = connect({ port, host: '127.0.0.1', key, cert, rejectUnauthorized: false });
    try {
      await once(socket, 'secureConnect');
      return socket.getPeerCertificate().fingerprint256;
    } finally {
      socket.destroy();
    }
  }

  /** Triggers a webhook and waits for the end of its turn. */
  async function finishTurn(): Promise<void> {
    const { status: code, body } = await fleet.api.trigger(webhook, 'encrypted');
    expect(code).toBe(200);
    const url = `${fleet.api.origin}/api/v1/sessions/${body.data.session_id}/events/stream`;
    const frames = await readStream(url, (all) => all.at(-1)?.event === 'session.status_idle');
    expect(frames.filter(({ event }) => event === 'turn.completed')).toHaveLength(1);
  }

  /** Sends requests to every service until `stop` is called. Resolves with the statuses other than success. */
  function startLoad() {
    const failures: string[] = [];
    let sent = 0;
    let isStopping = false;
    const senders = Array.from({ length: SENDERS }, async (_, sender) => {
      while (!isStopping) {
        const triggered = await sendTrigger(webhook, `${sender}`);
        const listed = await fleet.api.get('/sessions?limit=5');
        const files = await fleet.api.get(`/sessions/${session}/files`);
        for (const { status: code } of [triggered, listed, files]) if (code >= 400) failures.push(`${code}`);
        sent++;
      }
    });
    return {
      sent: () => sent,
      async stop() {
        isStopping = true;
        await Promise.all(senders);
        return failures;
      },
    };
  }

  it('finishes the turn of a webhook', finishTurn);

  it('refuses clients without TLS, without a certificate and with one of another CA', async () => {
    await issue(directory, 'second', 'stranger');
    await copyFile(join(directory, 'first.pem'), join(directory, 'stranger/ca.pem'));
    expect(await statusWith(await credentialsOf('one'))).toBe(status.OK);
    const ca = await readFile(join(directory, 'first.pem'));
    for (const channel of [
      credentials.createInsecure(),
      credentials.createSsl(ca),
      await credentialsOf('stranger'),
    ])
      expect(await statusWith(channel)).toBe(status.UNAVAILABLE);
  });

  it('replaces the CA and all certificates without a failed request', async () => {
    const load = startLoad();
    await expect.poll(load.sent, POLL).toBeGreaterThan(5);
    const both = await Promise.all(
      ['first', 'second'].map((name) => readFile(join(directory, `${name}.pem`))),
    );
    // First all processes accept both CAs. Then they get new certificates. Then they refuse the previous CA.
    await issue(directory, 'first', 'two');
    await writeFile(join(directory, 'two/ca.pem'), Buffer.concat(both));
    await use('two');
    await inUse('two');
    await issue(directory, 'second', 'three');
    await writeFile(join(directory, 'three/ca.pem'), Buffer.concat(both));
    await use('three');
    await inUse('three');
    await issue(directory, 'second', 'four');
    await use('four');
    await inUse('four');
    expect(await statusWith(await credentialsOf('one'))).toBe(status.UNAVAILABLE);
    // A new runner connects with the new files only.
    await fleet.end('runner', 'SIGTERM');
    await fleet.run('runner');
    await finishTurn();
    const before = load.sent();
    await expect.poll(load.sent, POLL).toBeGreaterThan(before + 5);
    expect(await load.stop()).toEqual([]);
  });

  it('keeps the previous files while their replacement is invalid', async () => {
    await issue(directory, 'second', 'invalid');
    await copyFile(join(directory, 'four/key.pem'), join(directory, 'invalid/key.pem'));
    await use('invalid');
    for (const target of TARGETS)
      await until(`${target} reports the files`, () =>
        fleet.outputOf(target).includes('the key file does not match the certificate'),
      );
    await inUse('four');
    await finishTurn();
  });
});
