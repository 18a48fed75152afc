import type { Acceptance } from './acceptance.ts';
import { percentile } from './bench.ts';
import type { Completion } from './completion.ts';
import type { Latency } from './latency.ts';
import { median, ms, type Row, spread } from './rows.ts';

/** What each round has shown of webhooks; empty for what was not measured. */
export interface WebhookResults {
  bare: Acceptance[];
  accepted: Acceptance[];
  apart: Acceptance[];
  finished: Completion[];
  latency: Latency[];
}

/** Of webhooks: accepted, finished, and what a follower waits for. */
export function webhookRows({ bare, accepted, apart, finished, latency }: WebhookResults): Row[] {
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
  return rows;
}
