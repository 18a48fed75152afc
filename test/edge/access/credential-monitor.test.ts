import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settings } from '../../../edge/config.ts';
import { openEdge } from '../../../edge/server.ts';
import { createKeyDeriver } from '../../../lib/derived-key.ts';
import { readSettings } from '../../../lib/env/read-settings.ts';
import { refuse } from '../../../lib/errors.ts';
import { abortable } from '../../../lib/grpc/abortable.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { createPeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { createContext } from '../../support/context.ts';
import { fakeService } from '../../support/fake-service.ts';
import { identity } from '../../support/identity.ts';
import { advanceUntil } from '../../support/wait.ts';

type AuthBehavior = 'accepts' | 'fails' | 'hangs' | 'rejects';

/** Streams continue this long after the last successful check. */
const MAX_UNVERIFIED_MS = 30_000;
const CHECK_INTERVAL_MS = 3_000;
/** A stream ends at most this long after its credential. */
const MAX_REVOCATION_MS = 5_000;
const STEP_MS = 250;

/** More than the send and receive buffers of the operating system hold together. */
const UNREAD_BYTES = 16 * 1024 * 1024;
/** A stalled client stops reading after this much data. */
const STALL_AFTER_BYTES = 64 * 1024;
const SESSION = `ses_${'0'.repeat(26)}`;

const never = (signal: AbortSignal) => abortable(new Promise<never>(() => {}), signal);

/** An edge with a scripted auth service, and a journal that sends nothing after its first event. */
describe('CredentialMonitor', () => {
  let stack: AsyncDisposableStack;
  let clock: FakeClock;
  let behavior: AuthBehavior;
  let checks: number;
  let openChecks: number;
  let maxOpenChecks: number;
  let origin: string;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    clock = createFakeClock();
    behavior = 'accepts';
    checks = 0;
    openChecks = 0;
    maxOpenChecks = 0;
    origin = await open();
  });
  afterEach(() => stack.disposeAsync());

  async function identify(_: unknown, { signal }: Call) {
    checks++;
    maxOpenChecks = Math.max(maxOpenChecks, ++openChecks);
    try {
      if (behavior === 'fails') throw refuse('DEPENDENCY_UNAVAILABLE', 'The database is unreachable.');
      if (behavior === 'rejects') throw refuse('UNAUTHENTICATED', 'The login has ended.');
      return behavior === 'accepts' ? identity() : await never(signal);
    } finally {
      openChecks--;
    }
  }

  /** One event; the stream then stays open without data. */
  async function* follow(_: unknown, { signal }: Call) {
    const json = JSON.stringify({ text: 'x'.repeat(UNREAD_BYTES) });
    // The first chunk only confirms that the session exists.
    yield { events: [], seq: 0, caughtUp: false };
    yield { events: [{ seq: 1, type: 'user.message', json }], seq: 1, caughtUp: true };
    await never(signal);
  }

  async function* readContent(_: unknown, { signal }: Call) {
    yield { bytes: Buffer.alloc(UNREAD_BYTES) };
    await never(signal);
  }

  async function getEntry() {
    const attributes = { kind: 'file', modifiedAt: clock.now(), executable: false, target: '' };
    return {
      entry: { ...attributes, path: 'a.bin', size: 2 * UNREAD_BYTES, sha256: '0'.repeat(64) },
      version: 1,
    };
  }

  async function open(): Promise<string> {
    const context = createContext('', { clock });
    const { ids, log, bus, metrics, tracer } = context;
    const clients = {
      auth: fakeService(AuthServiceDefinition, { identify }, 'edge', context),
      sessions: fakeService(SessionsServiceDefinition, { follow }, 'edge', context),
      agents: fakeService(AgentsServiceDefinition, {}, 'edge', context),
      files: fakeService(FilesServiceDefinition, { getEntry, readContent }, 'edge', context),
      deployments: fakeService(DeploymentsServiceDefinition, {}, 'edge', context),
      vaults: fakeService(VaultsServiceDefinition, {}, 'edge', context),
    };
    const readiness = async () => [];
    const edgeContext = {
      clock,
      ids,
      log,
      bus,
      metrics,
      tracer,
      clients,
      sealer: createPeerSealer('edge', context.serviceSecret),
      deriveKey: createKeyDeriver(context.serviceSecret),
      readiness,
      backends: [],
      configuration: [],
    };
    const config = { ...readSettings(settings, { SERVICE_PORT: '0' }, []), authMode: 'oidc' as const };
    const edge = await openEdge(edgeContext, config);
    stack.defer(() => edge.stop?.());
    return edge.url;
  }

  async function openStream() {
    const controller = new AbortController();
    stack.defer(() => controller.abort());
    const url = `${origin}/api/v1/sessions/${SESSION}/events/stream`;
    const headers = { authorization: 'Bearer token' };
    const response = await fetch(url, { headers, signal: controller.signal });
    expect(response.status).toBe(200);
    let open = true;
    const markClosed = () => {
      open = false;
    };
    void response.arrayBuffer().then(markClosed, markClosed);
    return { isOpen: () => open };
  }

  const now = () => clock.now().getTime();
  const advance = (ms: number) => {
    const end = now() + ms;
    const pass = () => clock.advance(Math.min(STEP_MS, end - now()));
    return advanceUntil(`${ms} ms have passed`, pass, () => now() >= end);
  };

  /** A client that stops reading after the first bytes. The returned function reads the rest and returns how it ended. */
  async function openStalled(path: string) {
    const { host, hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    stack.defer(() => void socket.destroy());
    socket.write(`GET /api/v1/sessions/${SESSION}${path} HTTP/1.1\r\nHost: ${host}\r\n`);
    socket.write('Authorization: Bearer token\r\n\r\n');
    let received = '';
    while (received.length < STALL_AFTER_BYTES) received += String((await once(socket, 'data'))[0]);
    socket.pause();
    expect(received).toMatch(/^HTTP\/1.1 200 /);
    const end = new Promise<string>((resolve) => {
      socket.once('end', () => resolve('completed'));
      socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
    });
    return (): Promise<string> => {
      socket.resume();
      return end;
    };
  }

  async function msUntilEnded(stream: { isOpen(): boolean }): Promise<number> {
    const from = now();
    await advanceUntil(
      'the stream has ended',
      () => clock.advance(STEP_MS),
      () => !stream.isOpen(),
    );
    return now() - from;
  }

  it.each<AuthBehavior>(['fails', 'hangs'])('ends a stream 30 seconds after auth %s', async (failure) => {
    const stream = await openStream();
    behavior = failure;
    await advance(MAX_UNVERIFIED_MS - CHECK_INTERVAL_MS - STEP_MS);
    expect(stream.isOpen()).toBe(true);
    expect(await msUntilEnded(stream)).toBeLessThanOrEqual(2 * CHECK_INTERVAL_MS);
  });

  it('checks a credential once in each interval for all streams that share it', async () => {
    const streams = await Promise.all([openStream(), openStream(), openStream()]);
    const before = checks;
    await advance(3 * CHECK_INTERVAL_MS);
    expect(checks - before).toBe(3);
    expect(streams.map((stream) => stream.isOpen())).toEqual([true, true, true]);
  });

  it('never overlaps checks of one credential while auth hangs', async () => {
    const stream = await openStream();
    behavior = 'hangs';
    await advance(3 * CHECK_INTERVAL_MS);
    expect(checks).toBeGreaterThan(1);
    expect(maxOpenChecks).toBe(1);
    behavior = 'accepts';
    await advance(MAX_UNVERIFIED_MS + CHECK_INTERVAL_MS);
    expect(stream.isOpen()).toBe(true);
    expect(maxOpenChecks).toBe(1);
  });

  it('keeps a stream open through several outages that are shorter than 30 seconds', async () => {
    const stream = await openStream();
    for (let outage = 0; outage < 3; outage++) {
      behavior = 'fails';
      await advance(MAX_UNVERIFIED_MS - 2 * CHECK_INTERVAL_MS);
      behavior = 'accepts';
      const before = checks;
      await advanceUntil(
        'auth was called again',
        () => clock.advance(STEP_MS),
        () => checks > before,
      );
    }
    expect(stream.isOpen()).toBe(true);
  });

  it('ends a stream within five seconds after its credential becomes invalid', async () => {
    const stream = await openStream();
    await advance(CHECK_INTERVAL_MS);
    behavior = 'rejects';
    expect(await msUntilEnded(stream)).toBeLessThanOrEqual(MAX_REVOCATION_MS);
  });

  it.each([
    ['a stream', '/events/stream'],
    ['a download', '/files/content?path=a.bin'],
    ['an export', '/export'],
  ])('resets the connection of %s whose client has not read the buffered data', async (_, path) => {
    const readRest = await openStalled(path);
    await advance(CHECK_INTERVAL_MS);
    behavior = 'rejects';
    await advance(MAX_REVOCATION_MS);
    expect(await readRest()).toBe('ECONNRESET');
  });

  it('closes the connection of an ended stream at once, so that the client does not reuse it', async () => {
    const readRest = await openStalled('/events/stream');
    const ended = readRest();
    await advance(CHECK_INTERVAL_MS);
    behavior = 'rejects';
    const from = checks;
    await advanceUntil(
      'the credential was rejected',
      () => clock.advance(STEP_MS),
      () => checks > from,
    );
    // The clock stands still from here on, so the connection is not reset.
    expect(await ended).toBe('completed');
  });

  it('ends a stream at the first rejection after an outage', async () => {
    const stream = await openStream();
    behavior = 'fails';
    await advance(MAX_UNVERIFIED_MS / 2);
    behavior = 'rejects';
    expect(await msUntilEnded(stream)).toBeLessThanOrEqual(2 * CHECK_INTERVAL_MS);
  });
});
