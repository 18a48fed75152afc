import type { LongSession, SessionAge } from '../measurements/sessions/long-session.ts';
import { median, ms, type Row } from './rows.ts';

/** Targets for the time from claim to model request, and for the memory of the runner. */
const MAX_RATIO = 1.5;
const MAX_GROWTH_MIB = 16;
const KIB = 1024;
const MIB = 1024 * KIB;

/** Rows for a turn of a long session. */
export function longSessionRows(rounds: LongSession[]): Row[] {
  const [first] = rounds;
  if (!first) return [];
  const of = (figure: (round: LongSession) => number) => median(rounds, figure);
  const ratio = of(({ young, long }) => long.claimToRequestMs / young.claimToRequestMs);
  const grown = of(({ grown }) => grown.lasting) / MIB;
  const heap = of(({ grown }) => grown.heap) / MIB;
  const inputOf = (age: (round: LongSession) => SessionAge) => {
    const [events, kib] = [of((one) => age(one).events), of((one) => age(one).bytes) / KIB];
    return `${events} events, ${kib.toFixed(0)} KiB, ${of((one) => age(one).tokens)} tokens`;
  };
  const { events, bytes } = first.journal;
  return [
    {
      letter: "g'",
      what: `claim → request, turn ${first.young.turns} → ${first.long.turns}`,
      figure: `${ms(of(({ young }) => young.claimToRequestMs))} → ${ms(of(({ long }) => long.claimToRequestMs))}`,
      ratio: `× ${ratio.toFixed(2)}`,
      target: ['below 1.5', ratio < MAX_RATIO],
    },
    { what: `loaded and sent, turn ${first.young.turns}`, figure: inputOf(({ young }) => young) },
    {
      what: `loaded and sent, turn ${first.long.turns}`,
      figure: inputOf(({ long }) => long),
      ratio: `of ${events} events, ${(bytes / KIB).toFixed(0)} KiB`,
    },
    {
      what: "growth of the runner's memory",
      figure: `${grown.toFixed(1)} MiB, heap ${heap.toFixed(1)} MiB`,
      target: ['at most 16 MiB', grown <= MAX_GROWTH_MIB],
    },
  ];
}
