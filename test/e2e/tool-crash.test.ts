import { describe, expect, it } from 'vitest';
import { toolCrashes } from '../chaos/tools/crashes.ts';
import { createDatabase } from '../support/database.ts';

describe('kill -9 of runners at the edges of tool calls', () => {
  it('never runs a tool a second time that nobody has asked for', async () => {
    await using database = await createDatabase();
    const figures = await toolCrashes(database.url, 16, 20_261_121);
    expect(figures).toMatchObject({ silentSecondRuns: 0, unknownRuns: 0, inventedResults: 0, broken: [] });
    // Some crash came in the middle of a call, or this has shown nothing.
    expect(figures.again + (figures.decisions.mark_done ?? 0)).toBeGreaterThan(0);
  }, 180_000);
});
