import { percentile, type Spread } from '../bench.ts';

/** A row of the result table. */
export interface Row {
  letter?: string;
  what: string;
  figure: string;
  ratio?: string;
  /** The target in words, and whether it is reached. */
  target?: [text: string, isReached: boolean];
}

export function line({ letter = '', what, figure, ratio = '', target }: Row): string {
  const goal = target ? `${target[0]}: ${target[1] ? 'reached' : 'missed'}` : '';
  return `${letter.padEnd(3)} ${what.padEnd(31)} ${figure.padEnd(23)} ${ratio.padEnd(10)} ${goal}`.trimEnd();
}

export function median<Round>(rounds: readonly Round[], figureOf: (round: Round) => number): number {
  return percentile(rounds.map(figureOf), 0.5);
}

export function spread<Round>(rounds: readonly Round[], of: (round: Round) => Spread): string {
  return `${ms(median(rounds, (one) => of(one).p50Ms))}, p99 ${ms(median(rounds, (one) => of(one).p99Ms))}`;
}

export const ms = (value: number) => `${value.toFixed(value < 100 ? 2 : 0)} ms`;
