import { compareAround, type Difference, instantsOf, ZONES } from '../support/schedules/compare.ts';
import { seeded, shuffled } from './random.ts';

const FIRST_YEAR = 2024;
const YEARS = 10;
const EXPRESSIONS = 40;

interface ScheduleFigures {
  zones: number;
  expressions: number;
  times: number;
  differences: Difference[];
}

/**
 * Compares the times of generated schedules with the minutes of the clock around every change of ten years and at random
 * instants, in the first `zones` zones of a random order.
 */
export function scheduleRounds(zones: number, seed: number): ScheduleFigures {
  const random = seeded(seed);
  const figures: ScheduleFigures = { zones: 0, expressions: 0, times: 0, differences: [] };
  for (const zone of shuffled(ZONES, random).slice(0, zones)) {
    figures.zones++;
    for (const instant of instantsOf(zone, FIRST_YEAR, YEARS, random)) {
      const { times, differences } = compareAround(zone, instant, EXPRESSIONS, Math.floor(random() * 1e9));
      figures.expressions += EXPRESSIONS;
      figures.times += times;
      figures.differences.push(...differences);
    }
  }
  return figures;
}
