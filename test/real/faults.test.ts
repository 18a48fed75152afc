import { describe, expect, it } from 'vitest';
import { faultRounds } from '../chaos/faults/rounds.ts';

describe('faults of single parts under a mixed load', () => {
  it('lose nothing that was acknowledged, are reported by /readyz, and end within ten seconds', async () => {
    const figures = await faultRounds({ seconds: 0, faultMs: 3_000, seed: 20_261_123 });
    expect(figures).toMatchObject({ lost: 0, lostUploads: [], broken: [], violations: [] });
    expect(figures.uploads).toBeGreaterThan(0);
  }, 300_000);
});
