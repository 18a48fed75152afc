import { describe, expect, it } from 'vitest';
import { crashRounds } from '../chaos/crash.ts';

describe('kill -9 under load', () => {
  it('loses nothing that was acknowledged and ends every turn once', async () => {
    const figures = await crashRounds(3, 20_261_121);
    expect(figures).toMatchObject({ lost: 0, repeated: 0, broken: [], strayed: [] });
    expect(figures.acknowledged).toBeGreaterThan(0);
    expect(figures.joins).toBeGreaterThan(figures.followers);
    // Some crash came in the middle of a turn, or this has shown nothing.
    expect(figures.resumed).toBeGreaterThan(0);
  }, 180_000);
});
