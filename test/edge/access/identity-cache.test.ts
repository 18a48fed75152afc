import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settings } from '../../../edge/config.ts';
import { openEdge } from '../../../edge/server.ts';
import type { Bus } from '../../../lib/bus/bus.ts';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { readSettings } from '../../../lib/env/read-settings.ts';
import type { ErrorCode } from '../../../lib/error-codes.ts';
import { refuse } from '../../../lib/errors.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { AuthServiceDefinition, type IdentifyRequest } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { standaloneContext } from '../../../scripts/reference/access.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { createContext } from '../../support/context.ts';
import { fakeService } from '../../support/fake-service.ts';
import { identity } from '../../support/identity.ts';

const TOKEN = { authorization: 'Bearer ahs_token' };

/** An edge with a scripted auth service. */
describe('identities at the edge', () => {
  let stack: AsyncDisposableStack;
  let clock: FakeClock;
  let bus: Bus;
  let url: string;
  let requests: IdentifyRequest[];
  let validForMs: number | undefined;
  let refusal: ErrorCode | undefined;
  /** Called when auth has received a request. */
  let onIdentify: () => void;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    clock = createFakeClock();
    bus = createLocalBus();
    requests = [];
    validForMs = 700;
    refusal = undefined;
    onIdentify = () => {};
    const context = createContext('', { clock });
    const identify = async (request: IdentifyRequest) => {
      requests.push(request);
      onIdentify();
      if (refusal) throw refuse(refusal, 'Refused.');
      return { ...identity(), validForMs };
    };
    const listAgents = async () => ({ agents: [], page: undefined });
    const standalone = standaloneContext();
    const clients = {
      ...standalone.clients,
      auth: fakeService(AuthServiceDefinition, { identify }, 'edge', context),
      agents: fakeService(AgentsServiceDefinition, { listAgents }, 'edge', context),
    };
    const config = { ...readSettings(settings, { SERVICE_PORT: '0' }, []), authMode: 'oidc' as const };
    const edge = await openEdge({ ...standalone, clock, bus, clients }, config);
    stack.defer(() => edge.stop?.());
    ({ url } = edge);
  });
  afterEach(() => stack.disposeAsync());

  async function status(headers: Record<string, string> = TOKEN): Promise<number> {
    return (await fetch(`${url}/api/v1/agents`, { headers })).status;
  }

  it('asks auth once for requests with one token while the response is valid', async () => {
    for (const _ of [1, 2, 3]) expect(await status()).toBe(200);
    clock.advance(699);
    expect(await status()).toBe(200);
    expect(requests).toHaveLength(1);
    clock.advance(1);
    expect(await status()).toBe(200);
    expect(requests).toHaveLength(2);
  });

  it('counts the validity from the start of the call', async () => {
    onIdentify = () => clock.advance(600);
    expect(await status()).toBe(200);
    clock.advance(100);
    expect(await status()).toBe(200);
    expect(requests).toHaveLength(2);
  });

  it('asks auth for each request when the response may not be used again', async () => {
    validForMs = undefined;
    for (const _ of [1, 2]) expect(await status()).toBe(200);
    expect(requests).toHaveLength(2);
  });

  it('asks auth again when the clock was set back', async () => {
    expect(await status()).toBe(200);
    clock.advance(-1_000);
    expect(await status()).toBe(200);
    expect(requests).toHaveLength(2);
  });

  it('distinguishes tokens and logins', async () => {
    const credentials = [
      TOKEN,
      { authorization: 'Bearer other' },
      { cookie: 'ahs_login=ahs_token' },
      { cookie: 'ahs_login=other' },
    ];
    for (const credential of credentials) expect(await status(credential)).toBe(200);
    expect(new Set(requests.map(({ bearer, login }) => `${bearer}|${login}`)).size).toBe(4);
  });

  it('asks auth again for a rejected credential', async () => {
    refusal = 'UNAUTHENTICATED';
    for (const _ of [1, 2]) expect(await status()).toBe(401);
    refusal = undefined;
    expect(await status()).toBe(200);
    expect(requests).toHaveLength(3);
  });

  it.each(['users.changed', 'credentials.ended'] as const)(
    'refuses an ended token at the hint %s',
    async (channel) => {
      expect(await status()).toBe(200);
      refusal = 'UNAUTHENTICATED';
      bus.publish(channel, 'any');
      expect(await status()).toBe(401);
    },
  );

  it('does not keep a response that auth may have made before a hint', async () => {
    onIdentify = () => bus.publish('credentials.ended', 'any');
    expect(await status()).toBe(200);
    refusal = 'UNAUTHENTICATED';
    expect(await status()).toBe(401);
  });
});
