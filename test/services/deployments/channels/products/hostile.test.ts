import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../../../lib/errors.ts';
import { isStorable } from '../../../../../lib/text.ts';
import { InboundEvent } from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ParsedEvent } from '../../../../../services/deployments/channels/products/product.ts';
import { productOf } from '../../../../../services/deployments/channels/products/products.ts';
import { seeded } from '../../../../chaos/random.ts';
import { IDENTITIES } from '../fixtures.ts';
import { mutated, SAMPLES } from '../hostile-events.ts';

const SEED = 20260101;
const ROUNDS = 4_000;
/** An entry of an index of the database takes at most 2,704 bytes. */
const MAX_KEY_BYTES = 1_300;

/** Undefined for a refusal of the body. */
function parse(provider: keyof typeof SAMPLES, event: unknown): ParsedEvent | undefined {
  try {
    return productOf(provider).parse(event, IDENTITIES[provider]);
  } catch (error) {
    if (provider === 'http' && error instanceof Refusal && /^INVALID_/.test(error.code)) return undefined;
    throw error;
  }
}

describe.each(['slack', 'telegram', 'discord', 'http'] as const)('hostile events of %s', (provider) => {
  it(`have a result, and only texts that can be stored (seed ${SEED})`, () => {
    const random = seeded(SEED);
    const outcomes = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const samples = SAMPLES[provider];
      const event = mutated(samples[round % samples.length], random);
      const parsed = parse(provider, event);
      outcomes.add(parsed?.outcome ?? 'invalid');
      if (!parsed || !('event' in parsed) || !parsed.event) continue;
      const texts = Object.values(parsed.event).filter((member) => typeof member === 'string');
      expect(texts.every(isStorable), JSON.stringify(event)).toBe(true);
      InboundEvent.encode(parsed.event).finish();
      if (parsed.outcome !== 'event') continue;
      const { dedupeKey, orderKey, place, senderId } = parsed.event;
      expect(dedupeKey).toMatch(/^[a-z]+:/);
      const key = [dedupeKey, orderKey, place?.place, place?.thread, senderId].join();
      expect(Buffer.byteLength(key) - Buffer.byteLength(dedupeKey)).toBeLessThan(2 * MAX_KEY_BYTES);
      expect(Buffer.byteLength(dedupeKey)).toBeLessThan(MAX_KEY_BYTES);
    }
    expect(outcomes).toContain('event');
    expect(outcomes).toContain(provider === 'http' ? 'invalid' : 'ignored');
  });
});
