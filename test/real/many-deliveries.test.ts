import { describe, expect, it } from 'vitest';
import { channelRounds } from '../chaos/channels/rounds.ts';

describe('hundreds of messages to a channel', () => {
  it('are one turn each and in order, and a flood does not stop another conversation', async () => {
    const figures = await channelRounds({ messages: 300, kills: 0, seed: 20_261_129 });
    expect(figures).toMatchObject({
      ...{ lost: [], repeated: [], misplaced: [], disordered: [], untold: [], wrong: [] },
    });
    expect(figures.requests).toBeGreaterThan(figures.messages);
    expect(figures.floodTurnsAfterOthers).toBeGreaterThan(0);
  }, 600_000);
});
