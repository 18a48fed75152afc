import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Refusal } from '../../../../lib/errors.ts';
import { seeded } from '../../../chaos/random.ts';
import { TRANSPORTS } from '../../../support/context.ts';
import { type DeploymentsSystem, openDeploymentsSystem } from '../system.ts';
import {
  callback,
  type Headers,
  httpHeaders,
  slackHeaders,
  storeChannel,
  TELEGRAM_SECRET,
} from './fixtures.ts';
import { mutated, SAMPLES } from './hostile-events.ts';

const SEED = 20260102;
const ROUNDS = 150;

/** Signed requests with bodies that no product sends. */
describe('ReceiveCallback RPC with hostile bodies', () => {
  let system: DeploymentsSystem;

  beforeAll(async () => {
    system = await openDeploymentsSystem(TRANSPORTS[0]!);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  function headersOf(provider: string, body: Uint8Array, isForm: boolean): Headers {
    const now = system.context.clock.now();
    if (provider === 'http') return httpHeaders(body, now);
    if (provider === 'telegram') return [['x-telegram-bot-api-secret-token', TELEGRAM_SECRET]];
    return slackHeaders(body, now, isForm ? 'application/x-www-form-urlencoded' : 'application/json');
  }

  /** The body as its product would send it, or damaged bytes. */
  function bodyOf(provider: keyof typeof SAMPLES, round: number, random: () => number) {
    const samples = SAMPLES[provider];
    const sample = samples[round % samples.length] as { type?: string; payload?: unknown };
    const event = mutated(sample.payload ?? sample, random);
    const json = JSON.stringify(event) ?? '';
    if (provider !== 'slack' || sample.type === 'events_api') {
      const bytes = Buffer.from(json);
      if (random() < 0.1 && bytes.length > 0)
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      return { body: bytes, isForm: false };
    }
    const form =
      sample.type === 'interactive'
        ? new URLSearchParams({ payload: json })
        : new URLSearchParams(
            Object.entries(event ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
          );
    return { body: Buffer.from(form.toString()), isForm: true };
  }

  it.each(['slack', 'telegram', 'http'] as const)(
    `of %s are never an internal error (seed ${SEED})`,
    async (provider) => {
      const channel = await storeChannel(system, provider);
      const random = seeded(SEED);
      const outcomes = new Map<string | number, number>();
      for (let round = 0; round < ROUNDS; round++) {
        const { body, isForm } = bodyOf(provider, round, random);
        const request = callback(channel.deploymentId, body, headersOf(provider, body, isForm));
        const outcome = await system.edge.receiveCallback(request).then(
          ({ status }) => status,
          (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
        );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
      const expected = {
        slack: [200, 'DEPLOYMENT_UNAUTHORIZED'],
        telegram: [200],
        http: [202, 'INVALID_REQUEST', 'INVALID_TEXT'],
      };
      for (const outcome of outcomes.keys()) expect(expected[provider]).toContain(outcome);
      expect(outcomes.size).toBeGreaterThanOrEqual(provider === 'telegram' ? 1 : 2);
    },
  );
});
