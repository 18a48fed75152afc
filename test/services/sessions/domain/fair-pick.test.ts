import { describe, expect, it } from 'vitest';
import { INTERACTIVE, TRIGGERED } from '../../../../services/sessions/domain/create.ts';
import { fairPick, type ReadyTurns } from '../../../../services/sessions/domain/fair-pick.ts';

const ready = (
  ownerId: string,
  agentId: string,
  turns = 100,
  more: Partial<ReadyTurns> = {},
): ReadyTurns => ({
  priority: INTERACTIVE,
  ownerId,
  agentId,
  turns,
  free: 1_000,
  ...more,
});
const hook = (ownerId: string, agentId: string, turns = 100) =>
  ready(ownerId, agentId, turns, { priority: TRIGGERED });

/** The turns that each owner and agent gets, for example `{'u1 a1': 2}`. */
function sharesOf(turns: readonly ReadyTurns[], slots: number, credit = 0): Record<string, number> {
  const { shares } = fairPick(turns, slots, credit);
  return Object.fromEntries(
    shares.map(({ ownerId, agentId, turns: count }) => [`${ownerId} ${agentId}`, count]),
  );
}

describe('fairPick', () => {
  it('gives owners equal shares regardless of how many turns and agents they have', () => {
    const turns = [ready('u1', 'a1', 100), ready('u1', 'a2', 100), ready('u2', 'a3', 100)];
    expect(sharesOf(turns, 8)).toEqual({ 'u1 a1': 2, 'u1 a2': 2, 'u2 a3': 4 });
  });

  it('gives the slots that an owner does not need to the others', () => {
    expect(sharesOf([ready('u1', 'a1', 1), ready('u2', 'a2', 100)], 5)).toEqual({ 'u1 a1': 1, 'u2 a2': 4 });
  });

  it('serves owners in the given order and names the last one', () => {
    const turns = [ready('u3', 'a1'), ready('u1', 'a1'), ready('u2', 'a1')];
    const { lastOwner, isCut } = fairPick(turns, 2, 0);
    expect(lastOwner).toEqual(new Map([[INTERACTIVE, 'u1']]));
    expect(isCut).toBe(true);
  });

  it('starts no more turns of an agent than it has room for, of all owners together', () => {
    const room = { free: 3 };
    const turns = [ready('u1', 'a1', 10, room), ready('u2', 'a1', 10, room), ready('u2', 'a2', 1)];
    const { shares, isCut } = fairPick(turns, 10, 0);
    const started = (agentId: string) =>
      shares.filter((share) => share.agentId === agentId).reduce((sum, share) => sum + share.turns, 0);
    expect([started('a1'), started('a2')]).toEqual([3, 1]);
    // The turns that wait for room are not a reason to pick again.
    expect(isCut).toBe(false);
  });

  it('starts no turn of an agent that is over its limit', () => {
    expect(sharesOf([ready('u1', 'a1', 10, { free: -2 }), ready('u2', 'a2', 1)], 3)).toEqual({ 'u2 a2': 1 });
  });

  it('reserves 20 % of the slots for triggered turns while both kinds wait', () => {
    expect(sharesOf([ready('u1', 'a1'), hook('u2', 'a2')], 100)).toEqual({ 'u1 a1': 80, 'u2 a2': 20 });
  });

  it('starts all triggered turns when no interactive turn waits', () => {
    expect(sharesOf([hook('u1', 'a1', 4)], 10)).toEqual({ 'u1 a1': 4 });
    expect(sharesOf([ready('u1', 'a1', 2), hook('u2', 'a2', 9)], 10)).toEqual({ 'u1 a1': 2, 'u2 a2': 8 });
  });

  it('reserves every fifth slot over picks of one slot each', () => {
    const turns = [ready('u1', 'a1'), hook('u2', 'a2')];
    const order: number[] = [];
    for (let credit = 0; order.length < 10; ) {
      const pick = fairPick(turns, 1, credit);
      credit = pick.credit;
      order.push(...pick.shares.map(({ priority }) => priority));
    }
    expect(order).toEqual([0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
  });

  it('gives nothing without ready turns', () => {
    expect(fairPick([], 10, 0.5)).toMatchObject({ shares: [], credit: 0.5, isCut: false });
  });
});
