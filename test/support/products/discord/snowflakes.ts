import type { Clock } from '../../../../lib/clock.ts';

/** The first millisecond of Discord's ids. */
const EPOCH_MS = 1_420_070_400_000;

/** Creates unique ids that increase. Each contains its time of creation. */
export function createSnowflakes(clock: Clock): () => string {
  let last = 0n;
  return () => {
    const now = BigInt(clock.now().getTime() - EPOCH_MS) << 22n;
    last = now > last ? now : last + 1n;
    return String(last);
  };
}

/** The time of creation of an id as the product writes times. */
export function timestampOf(id: string): string {
  return timestamp(new Date(Number(BigInt(id) >> 22n) + EPOCH_MS));
}

export function timestamp(date: Date): string {
  return date.toISOString().replace('Z', '000+00:00');
}
