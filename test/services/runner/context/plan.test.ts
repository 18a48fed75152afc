import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HistoryUnit } from '../../../../services/runner/context/history-unit.ts';
import { type PlanRequest, planCompaction } from '../../../../services/runner/context/plan.ts';

interface DrawnUnit {
  isStep: boolean;
  isPinned: boolean;
  tokens: number;
  results: number[];
}

const drawnUnit: fc.Arbitrary<DrawnUnit> = fc.record({
  isStep: fc.boolean(),
  isPinned: fc.boolean(),
  tokens: fc.nat(2_000),
  results: fc.array(fc.nat(20_000), { maxLength: 4 }),
});

/** Turns that begin with a message. */
const drawnTurns = fc.array(fc.array(drawnUnit, { maxLength: 5 }), { minLength: 1, maxLength: 12 });

function unitsOf(turns: DrawnUnit[][]): HistoryUnit[] {
  let seq = 0;
  const event = () => ({ seq: ++seq, type: 'agent.message', json: '' });
  return turns.flatMap((turn, number) => {
    const beginning = { isStep: false, isPinned: false, tokens: 50, results: [] };
    return [beginning, ...turn].map(({ isStep, isPinned, tokens, results }): HistoryUnit => {
      const events = [event()];
      const found = (isStep ? results : []).map((tokens) => {
        const { seq } = event();
        events.push({ seq, type: 'agent.tool_result', json: '' });
        return { seq, bytes: tokens * 3, tokens };
      });
      const all = found.reduce((sum, result) => sum + result.tokens, tokens);
      const facts = { turnId: `trn_${number}`, isStep, isPinned: !isStep && isPinned };
      return { ...facts, events, tokens: all, results: found };
    });
  });
}

const drawnRequest: fc.Arbitrary<PlanRequest> = fc
  .record({
    turns: drawnTurns,
    fixed: fc.nat(3_000),
    summary: fc.nat(500),
    newSummary: fc.nat(500),
    max: fc.integer({ min: 1_000, max: 30_000 }),
    threshold: fc.double({ min: 0.1, max: 0.95, noNaN: true }),
    keepTurns: fc.integer({ min: 1, max: 5 }),
    canMove: fc.boolean(),
    isLossy: fc.boolean(),
  })
  .map(({ turns, max, threshold, ...others }) => ({
    ...others,
    ...{
      units: unitsOf(turns),
      turnId: `trn_${turns.length - 1}`,
      max,
      trigger: Math.floor(max * threshold),
    },
  }));

const total = (units: readonly HistoryUnit[]) => units.reduce((sum, { tokens }) => sum + tokens, 0);

describe('planCompaction', () => {
  it('returns a request that fits, or names the part that cannot fit', () => {
    fc.assert(
      fc.property(drawnRequest, (request) => {
        const { units, fixed, summary, newSummary, max, turnId } = request;
        const plan = planCompaction(request);
        const stays = units.filter(
          ({ isStep, isPinned, turnId: of }) => isPinned || (!isStep && of === turnId),
        );
        if (plan.kind === 'fits') {
          expect(total(units) + fixed + summary).toBeLessThanOrEqual(max);
          return;
        }
        if (plan.kind === 'too_long') {
          expect(total(stays) + fixed + Math.max(summary, newSummary)).toBeGreaterThan(max);
          return;
        }
        expect(plan.tokens).toBeLessThanOrEqual(max);
        for (const unit of stays) expect(plan.removed).not.toContain(unit);
      }),
      { numRuns: 2_000 },
    );
  });

  it('removes steps whole, and moves only results of units that stay', () => {
    fc.assert(
      fc.property(drawnRequest, (request) => {
        const plan = planCompaction(request);
        if (plan.kind !== 'compact') return;
        const removed = new Set(plan.removed.flatMap(({ events }) => events.map(({ seq }) => seq)));
        for (const { seq, isRequired } of plan.moves) {
          expect(removed.has(seq)).toBe(false);
          if (!request.canMove) expect(isRequired).toBe(true);
        }
      }),
    );
  });

  it('returns the same plan for the same request', () => {
    fc.assert(
      fc.property(drawnRequest, (request) => {
        expect(planCompaction(structuredClone(request))).toEqual(planCompaction(request));
      }),
    );
  });

  it('moves large results before it removes a turn, the oldest first', () => {
    const step = (tokens: number): DrawnUnit => ({
      isStep: true,
      isPinned: false,
      tokens: 100,
      results: [tokens],
    });
    const units = unitsOf([[step(3_000)], [step(4_000)], [step(500)], [step(500)]]);
    const base = { units, turnId: 'trn_3', fixed: 0, summary: 0, newSummary: 100, keepTurns: 2 };
    const plan = planCompaction({ ...base, max: 10_000, trigger: 8_000, canMove: true, isLossy: false });
    expect(plan).toMatchObject({
      kind: 'compact',
      removed: [],
      moves: [{ seq: 3, shown: 0 }, { seq: 6 }],
    });
  });
});
