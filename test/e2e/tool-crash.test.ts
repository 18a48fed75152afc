import { describe, expect, it } from 'vitest';
import { toolCrashes } from '../chaos/tools/crashes.ts';
import { createDatabase } from '../support/database.ts';

describe('kill -9 of runners before, during and after tool calls', () => {
  it('never repeats a tool call without a decision of a user', async () => {
    await using database = await createDatabase();
    const figures = await toolCrashes(database.url, 24, 7);
    expect(figures).toMatchObject({ silentSecondRuns: 0, unknownRuns: 0, inventedResults: 0, broken: [] });
    // At least one crash must have interrupted a call.
    expect(figures.again + (figures.decisions.mark_done ?? 0)).toBeGreaterThan(0);
  });
});
