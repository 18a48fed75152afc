import type { Acceptance } from './acceptance.ts';
import { percentile, type Spread } from './bench.ts';
import type { Completion } from './completion.ts';
import type { Latency } from './latency.ts';

/** What each round has shown; empty for what was not measured. */
export interface Results {
  bare: Acceptance[];
  accepted: Acceptance[];
  apart: Acceptance[];
  finished: Completion[];
  latency: Latency[];
}

interface Row {
  letter?: string;
  what: string;
  figure: string;
  ratio?: string;
  /** In words, and whether the figure is there. */
  target?: [text: string, isReached: boolean];
}

/** The medians of the rounds, with the targets beside them. */
export function table({ bare, accepted, apart, finished, latency }: Results): string {
  const limit = median(bare, ({ perSecond }) => perSecond);

  /** Each round beside the limit of its own round, as the machine may have changed its pace until the next. */
  function ratioOf(rounds: { perSecond: number }[]): number {
    const isPaired = rounds.length === bare.length;
    const ratios = rounds.map((one, i) => one.perSecond / (isPaired ? (bare[i]?.perSecond ?? limit) : limit));
    return percentile(ratios, 0.5);
  }

  function rates(letter: string, what: string, rounds: { perSecond: number }[], target?: number): Row {
    const perSecond = median(rounds, (one) => one.perSecond);
    const ratio = ratioOf(rounds);
    const row: Row = { letter, what, figure: `${Math.round(perSecond)}/s` };
    if (letter === 'b' || Number.isNaN(ratio)) return row;
    const goal: Row['target'] = target === undefined ? undefined : [`at least ${target}`, ratio >= target];
    return { ...row, ratio: `${letter}/b ${ratio.toFixed(2)}`, target: goal };
  }

  function acceptance(letter: string, what: string, rounds: Acceptance[], targets = false): Row[] {
    const alone = median(rounds, ({ aloneP50Ms }) => aloneP50Ms);
    return [
      rates(letter, what, rounds, targets ? 1 : undefined),
      { what: 'at 32 connections', figure: spread(rounds, (one) => one) },
      {
        what: 'at one connection, p50',
        figure: ms(alone),
        target: targets ? ['at most 0.8 ms', alone <= 0.8] : undefined,
      },
    ];
  }

  const rows: Row[] = [];
  if (bare.length > 0) rows.push(...acceptance('b', 'bare limit', bare));
  if (accepted.length > 0) rows.push(...acceptance('a', 'accepted, one process', accepted, true));
  if (apart.length > 0) rows.push(...acceptance('a"', 'accepted, a process per target', apart));
  if (finished.length > 0)
    rows.push(
      rates("a'", 'accepted and finished', finished, 0.35),
      {
        what: 'beside the senders',
        figure: `${Math.round(median(finished, (one) => one.besidePerSecond))}/s`,
      },
      { what: 'left when they stopped', figure: `${median(finished, ({ backlog }) => backlog)} turns` },
      { what: 'acceptance', figure: spread(finished, (one) => one) },
      { what: 'creation → end of the turn', figure: spread(finished, ({ turn }) => turn) },
    );
  if (latency.length > 0)
    rows.push(
      {
        letter: 'c',
        what: '200 → first event',
        figure: spread(latency, ({ first }) => first),
        target: ['at most 10 ms', median(latency, ({ first }) => first.p99Ms) <= 10],
      },
      { what: 'message → 200 followers', figure: spread(latency, ({ fanOut }) => fanOut) },
      { what: 'message → the last of them', figure: spread(latency, ({ last }) => last) },
    );
  return rows.map(line).join('\n');
}

function line({ letter = '', what, figure, ratio = '', target }: Row): string {
  const goal = target ? `${target[0]}: ${target[1] ? 'reached' : 'missed'}` : '';
  return `${letter.padEnd(3)} ${what.padEnd(31)} ${figure.padEnd(23)} ${ratio.padEnd(10)} ${goal}`.trimEnd();
}

function median<Round>(rounds: readonly Round[], figureOf: (round: Round) => number): number {
  return percentile(rounds.map(figureOf), 0.5);
}

function spread<Round>(rounds: readonly Round[], of: (round: Round) => Spread): string {
  return `${ms(median(rounds, (one) => of(one).p50Ms))}, p99 ${ms(median(rounds, (one) => of(one).p99Ms))}`;
}

const ms = (value: number) => `${value.toFixed(value < 100 ? 2 : 0)} ms`;
