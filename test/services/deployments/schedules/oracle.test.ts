import { describe, expect, it } from 'vitest';
import { seeded, shuffled } from '../../../chaos/random.ts';
import { compareAround, instantsOf, ZONES } from '../../../support/schedules/compare.ts';
import { changesBetween } from '../../../support/schedules/wall-clocks.ts';

const SEED = 20_260_329;
const EXPRESSIONS = 8;

/** Changes that differ from the usual hour at night. */
const SPECIAL: [zone: string, year: number, name: string][] = [
  ['Pacific/Apia', 2011, 'a skipped day'],
  ['Australia/Lord_Howe', 2026, 'half an hour'],
  ['America/Sao_Paulo', 2018, 'midnight'],
  ['Antarctica/Troll', 2026, 'two hours'],
  ['Africa/Casablanca', 2025, 'Ramadan'],
  ['America/Havana', 2026, 'a repeated midnight'],
  ['Asia/Pyongyang', 2015, 'half an hour backward for good'],
  ['America/Caracas', 2016, 'half an hour forward for good'],
];

describe('times of cron expressions', () => {
  it.each(SPECIAL)('agree with the minutes of the clock in %s in %i, with %s', (zone, year) => {
    const changes = changesBetween(zone, Date.UTC(year, 0), Date.UTC(year + 1, 0));
    expect(changes).not.toEqual([]);
    const found = changes.map((instant, index) => compareAround(zone, instant, EXPRESSIONS, SEED + index));
    expect(found.flatMap(({ differences }) => differences)).toEqual([]);
    expect(Math.max(...found.map(({ times }) => times))).toBeGreaterThan(100);
  });

  it('agree with the minutes of the clock in a sample of zones and years', () => {
    const random = seeded(SEED);
    const differences = shuffled(ZONES, random)
      .slice(0, 6)
      .flatMap((zone) => {
        const year = 2020 + Math.floor(random() * 15);
        return instantsOf(zone, year, 1, random).flatMap(
          (instant) => compareAround(zone, instant, EXPRESSIONS, Math.floor(random() * 1e9)).differences,
        );
      });
    expect(differences).toEqual([]);
  });
});
