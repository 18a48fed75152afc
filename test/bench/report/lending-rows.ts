import type { Lending } from '../measurements/lending.ts';
import { median, type Row, spread } from './rows.ts';

/** Results of the lending measurement per round; empty if it was not measured. */
export interface LendingResults {
  lending: Lending[];
}

/** Target: milliseconds of the first call of a turn. */
const AIM_MS = 10;

/** Compares the first call of a turn with the commits that it needs. */
export function lendingRows({ lending }: LendingResults): Row[] {
  if (lending.length === 0) return [];
  const first = median(lending, (one) => one.first.p50Ms);
  const ratio = median(lending, (one) => one.first.p50Ms / one.bareMs);
  return [
    {
      letter: "n'",
      what: 'lend, first in a turn',
      figure: spread(lending, (one) => one.first),
      ratio: `n'/bare ${ratio.toFixed(2)}`,
      target: [`at most ${AIM_MS} ms`, first <= AIM_MS],
    },
    { what: 'lend again in the turn', figure: spread(lending, (one) => one.later) },
    { what: 'bare limit: three commits', figure: `${median(lending, (one) => one.bareMs).toFixed(2)} ms` },
  ];
}
