import { describe, expect, it } from 'vitest';
import { crashRounds } from '../chaos/crash.ts';

describe('kill -9 under load', () => {
  it('loses no acknowledged webhook and ends every turn once', async () => {
    const figures = await crashRounds(3, 20_261_121);
    expect(figures).toMatchObject({ lost: 0, repeated: 0, broken: [], diverged: [] });
    expect(figures.acknowledged).toBeGreaterThan(0);
    expect(figures.joins).toBeGreaterThan(figures.followers);
    // At least one crash must have interrupted a turn.
    expect(figures.resumed).toBeGreaterThan(0);
  });
});
