import { describe, expect, it } from 'vitest';
import { faultRounds } from '../chaos/faults/rounds.ts';
import { processRounds } from '../chaos/processes/rounds.ts';

describe('faults of single parts under a mixed load', () => {
  it('lose nothing that was acknowledged, are reported by /readyz, and end within ten seconds', async () => {
    const figures = await faultRounds({ seconds: 0, faultMs: 3_000, seed: 20_261_123 });
    expect(figures).toMatchObject({ lost: 0, lostUploads: [], broken: [], violations: [] });
    expect(figures.uploads).toBeGreaterThan(0);
  }, 300_000);
});

describe('faults of single processes of a system with a process per target', () => {
  it('lose and repeat nothing, answer with named errors, and end within ten seconds', async () => {
    const figures = await processRounds({ seconds: 15, faultMs: 2_000, seed: 20_261_123 });
    expect(figures).toMatchObject({
      lost: 0,
      lostUploads: [],
      repeated: [],
      broken: [],
      diverged: [],
      violations: [],
    });
    expect(figures.acknowledged).toBeGreaterThan(0);
  }, 300_000);
});
