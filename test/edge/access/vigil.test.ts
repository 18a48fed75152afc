import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settings } from '../../../edge/config.ts';
import { openEdge } from '../../../edge/server.ts';
import { readSettings } from '../../../lib/env.ts';
import { refuse } from '../../../lib/errors.ts';
import { abortable } from '../../../lib/grpc/abortable.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { createContext } from '../../support/context.ts';
import { fakeService } from '../../support/fake-service.ts';
import { identity } from '../../support/identity.ts';
import { passing } from '../../support/wait.ts';

type Mood = 'answers' | 'fails' | 'is silent' | 'refuses';

/** Since auth has last said that a credential holds. */
const PATIENCE_MS = 30_000;
/** From one question to the next. */
const UNTIL_ASKED_MS = 3_000;
/** From the end of a credential until nothing of it goes on. */
const EFFECT_MS = 5_000;
const STEP_MS = 250;

/** As much as the buffers of the system take from the service in one go. */
const AHEAD_BYTES = 1024 * 1024;
const SESSION = `ses_${'0'.repeat(26)}`;

const never = (signal: AbortSignal) => abortable(new Promise<never>(() => {}), signal);

/** The edge before an auth that does as it is told, and a journal in which nothing happens. */
describe('a stream, while auth cannot be asked whether its credential holds', () => {
  let stack: AsyncDisposableStack;
  let clock: FakeClock;
  let mood: Mood;
  let asked: number;
  let origin: string;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    clock = createFakeClock();
    mood = 'answers';
    asked = 0;
    origin = await open();
  });
  afterEach(() => stack.disposeAsync());

  async function identify(_: unknown, { signal }: Call) {
    asked++;
    if (mood === 'fails') throw refuse('DEPENDENCY_UNAVAILABLE', 'the database cannot be reached');
    if (mood === 'refuses') throw refuse('UNAUTHENTICATED', 'the login has ended');
    return mood === 'answers' ? identity() : never(signal);
  }

  /** All there is of a journal or a file; after that nothing more comes for a long time. */
  async function* follow(_: unknown, { signal }: Call) {
    const json = JSON.stringify({ text: 'x'.repeat(AHEAD_BYTES) });
    yield { events: [{ seq: 1, type: 'message.user', json }], seq: 1, caughtUp: true };
    await never(signal);
  }

  async function* readContent(_: unknown, { signal }: Call) {
    yield { bytes: Buffer.alloc(AHEAD_BYTES) };
    await never(signal);
  }

  async function getEntry() {
    const known = { kind: 'file', modifiedAt: clock.now(), executable: false, target: '' };
    return { entry: { ...known, path: 'a.bin', size: 2 * AHEAD_BYTES, sha256: '0'.repeat(64) }, version: 1 };
  }

  async function open(): Promise<string> {
    const context = createContext('', { clock });
    const { ids, log, metrics, tracer } = context;
    const clients = {
      auth: fakeService(AuthServiceDefinition, { identify }, 'edge', context),
      sessions: fakeService(SessionsServiceDefinition, { follow }, 'edge', context),
      agents: fakeService(AgentsServiceDefinition, {}, 'edge', context),
      files: fakeService(FilesServiceDefinition, { getEntry, readContent }, 'edge', context),
      deployments: fakeService(DeploymentsServiceDefinition, {}, 'edge', context),
    };
    const readiness = async () => [];
    const whole = { clock, ids, log, metrics, tracer, clients, readiness, standIns: [], configuration: [] };
    const config = { ...readSettings(settings, { SERVICE_PORT: '0' }, []), authMode: 'oidc' as const };
    const edge = await openEdge(whole, config);
    stack.defer(() => edge.stop?.());
    return edge.url;
  }

  async function openStream() {
    const controller = new AbortController();
    stack.defer(() => controller.abort());
    const url = `${origin}/api/v1/sessions/${SESSION}/events/stream`;
    const headers = { authorization: 'Bearer whoever' };
    const response = await fetch(url, { headers, signal: controller.signal });
    expect(response.status).toBe(200);
    let open = true;
    const ended = () => {
      open = false;
    };
    void response.arrayBuffer().then(ended, ended);
    return { isOpen: () => open };
  }

  const now = () => clock.now().getTime();
  const passed = (ms: number) => {
    const end = now() + ms;
    const pass = () => clock.advance(Math.min(STEP_MS, end - now()));
    return passing(`${ms} ms have passed`, pass, () => now() >= end);
  };

  /** Someone who reads no more after the first bytes have come. Reads all that can be had, and says how that ended. */
  async function openUnread(path: string) {
    const { host, hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    stack.defer(() => void socket.destroy());
    socket.write(`GET /api/v1/sessions/${SESSION}${path} HTTP/1.1\r\nHost: ${host}\r\n`);
    socket.write('Authorization: Bearer whoever\r\n\r\n');
    const [head] = await once(socket, 'data');
    socket.pause();
    expect(String(head)).toMatch(/^HTTP\/1.1 200 /);
    const end = new Promise<string>((resolve) => {
      socket.once('end', () => resolve('it was all sent'));
      socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
    });
    return (): Promise<string> => {
      socket.resume();
      return end;
    };
  }

  async function msUntilEnded(stream: { isOpen(): boolean }): Promise<number> {
    const from = now();
    await passing(
      'the stream has ended',
      () => clock.advance(STEP_MS),
      () => !stream.isOpen(),
    );
    return now() - from;
  }

  it.each<Mood>(['fails', 'is silent'])('goes on for half a minute, and no longer: it %s', async (how) => {
    const stream = await openStream();
    mood = how;
    await passed(PATIENCE_MS - UNTIL_ASKED_MS - STEP_MS);
    expect(stream.isOpen()).toBe(true);
    expect(await msUntilEnded(stream)).toBeLessThanOrEqual(2 * UNTIL_ASKED_MS);
  });

  it('is given as much patience the next time', async () => {
    const stream = await openStream();
    for (let outage = 0; outage < 3; outage++) {
      mood = 'fails';
      await passed(PATIENCE_MS - 2 * UNTIL_ASKED_MS);
      mood = 'answers';
      const before = asked;
      await passing(
        'it was asked again',
        () => clock.advance(STEP_MS),
        () => asked > before,
      );
    }
    expect(stream.isOpen()).toBe(true);
  });

  it('ends within five seconds of its credential', async () => {
    const stream = await openStream();
    await passed(UNTIL_ASKED_MS);
    mood = 'refuses';
    expect(await msUntilEnded(stream)).toBeLessThanOrEqual(EFFECT_MS);
  });

  it.each([
    ['a stream', '/events/stream'],
    ['a download', '/files/content?path=a.bin'],
    ['an export', '/export'],
  ])('nor does the system send what it has taken of %s', async (_, path) => {
    const readOn = await openUnread(path);
    await passed(UNTIL_ASKED_MS);
    mood = 'refuses';
    await passed(EFFECT_MS);
    expect(await readOn()).toBe('ECONNRESET');
  });

  it('ends with the first answer that it does not hold, however long that has taken', async () => {
    const stream = await openStream();
    mood = 'fails';
    await passed(PATIENCE_MS / 2);
    mood = 'refuses';
    expect(await msUntilEnded(stream)).toBeLessThanOrEqual(2 * UNTIL_ASKED_MS);
  });
});
