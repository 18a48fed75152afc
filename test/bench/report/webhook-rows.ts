import { percentile } from '../bench.ts';
import type { Acceptance } from '../measurements/webhooks/acceptance.ts';
import type { Completion } from '../measurements/webhooks/completion.ts';
import type { Latency } from '../measurements/webhooks/latency.ts';
import type { Goodput, Overload } from '../measurements/webhooks/overload.ts';
import { median, ms, type Row, spread } from './rows.ts';

/** Results of the webhook measurements per round; empty if not measured. */
export interface WebhookResults {
  bare: Acceptance[];
  /** The same in three processes. */
  bareApart: Acceptance[];
  accepted: Acceptance[];
  apart: Acceptance[];
  finished: Completion[];
  /** The same with one process per target. */
  finishedSeparately: Completion[];
  latency: Latency[];
  overload: Overload[];
}

/** Rows for accepted and finished webhooks and the latency of followers. */
export function webhookRows(results: WebhookResults): Row[] {
  const { bare, bareApart, accepted, apart, finished, finishedSeparately, latency, overload } = results;

  /** Each round is compared with the limit of the same round, because the speed of the machine may change between rounds. */
  function ratioOf(rounds: { perSecond: number }[], limits: { perSecond: number }[]): number {
    const limit = median(limits, ({ perSecond }) => perSecond);
    const isPaired = rounds.length === limits.length;
    const ratios = rounds.map(
      (one, i) => one.perSecond / (isPaired ? (limits[i]?.perSecond ?? limit) : limit),
    );
    return percentile(ratios, 0.5);
  }

  function rates(letter: string, what: string, rounds: { perSecond: number }[], target?: number): Row {
    const perSecond = median(rounds, (one) => one.perSecond);
    const ratio = ratioOf(rounds, bare);
    const row: Row = { letter, what, figure: `${Math.round(perSecond)}/s` };
    if (letter === 'b' || Number.isNaN(ratio)) return row;
    const goal: Row['target'] = target === undefined ? undefined : [`at least ${target}`, ratio >= target];
    return { ...row, ratio: `${letter}/b ${ratio.toFixed(2)}`, target: goal };
  }

  /**
   * The target is the least ratio to the bare limit, and the longest median latency at one connection in milliseconds. `alike` is
   * the bare limit in as many processes.
   */
  function acceptance(
    letter: string,
    what: string,
    rounds: Acceptance[],
    { target, alike = [] }: { target?: { ratio: number; aloneMs: number }; alike?: Acceptance[] } = {},
  ): Row[] {
    const aloneOf = (of: Acceptance[]) => median(of, ({ singleConnectionP50Ms }) => singleConnectionP50Ms);
    const alone = aloneOf(rounds);
    const beside = alone / aloneOf(alike);
    const rate = alike === bare ? Number.NaN : ratioOf(rounds, alike);
    return [
      rates(letter, what, rounds, target?.ratio),
      {
        what: 'at 32 connections',
        figure: spread(rounds, (one) => one),
        ratio: Number.isNaN(rate) ? '' : `${letter}/b" ${rate.toFixed(2)}`,
      },
      {
        what: 'at one connection, p50',
        figure: ms(alone),
        ratio: Number.isNaN(beside) ? '' : `× ${beside.toFixed(2)}`,
        target: target && [`at most ${target.aloneMs} ms`, alone <= target.aloneMs],
      },
    ];
  }

  function completion(letter: string, what: string, rounds: Completion[], target: number): Row[] {
    return [
      rates(letter, what, rounds, target),
      { what: 'while sending', figure: `${Math.round(median(rounds, (one) => one.besidePerSecond))}/s` },
      { what: 'backlog when senders stopped', figure: `${median(rounds, ({ backlog }) => backlog)} turns` },
      { what: 'acceptance', figure: spread(rounds, (one) => one) },
      { what: 'creation → end of the turn', figure: spread(rounds, ({ turn }) => turn) },
    ];
  }

  const rows: Row[] = [];
  if (bare.length > 0) rows.push(...acceptance('b', 'bare limit', bare));
  if (bareApart.length > 0) rows.push(...acceptance('b"', 'bare limit, three processes', bareApart));
  if (accepted.length > 0) {
    const target = { ratio: 1.4, aloneMs: 0.8 };
    rows.push(...acceptance('a', 'accepted, one process', accepted, { target, alike: bare }));
  }
  if (apart.length > 0) {
    const target = { ratio: 0.7, aloneMs: 1 };
    rows.push(...acceptance('a"', 'accepted, one process per target', apart, { target, alike: bareApart }));
  }
  if (finished.length > 0) rows.push(...completion("a'", 'accepted and finished', finished, 0.6));
  if (finishedSeparately.length > 0)
    rows.push(...completion('r', 'finished, process per target', finishedSeparately, 0.35));
  if (latency.length > 0)
    rows.push(
      {
        letter: 'c',
        what: '200 → first event',
        figure: spread(latency, ({ first }) => first),
        target: ['at most 10 ms', median(latency, ({ first }) => first.p99Ms) <= 10],
      },
      { what: 'message → 200 followers', figure: spread(latency, ({ fanOut }) => fanOut) },
      { what: 'message → last of 200 followers', figure: spread(latency, ({ last }) => last) },
    );
  const separate = overload.flatMap((one) => one.apart ?? []);
  if (overload.length > 0)
    rows.push(
      ...goodput(
        'x',
        'three times the capacity',
        overload.map(({ single }) => single),
      ),
    );
  if (separate.length > 0) rows.push(...goodput('x"', 'the same, a process per target', separate));
  return rows;
}

function goodput(letter: string, what: string, rounds: Goodput[]): Row[] {
  const ratio = median(rounds, (one) => one.ratio);
  const recovery = median(rounds, (one) => one.recoverySeconds);
  return [
    {
      letter,
      what,
      figure: `${ratio.toFixed(2)} of the capacity`,
      target: ['at least 0.9', ratio >= 0.9],
    },
    {
      what: 'per CPU time',
      figure: `${median(rounds, ({ cpuRatio }) => cpuRatio).toFixed(2)} of the capacity`,
    },
    { what: 'acceptance', figure: spread(rounds, (one) => one) },
    { what: 'a read meanwhile', figure: ms(median(rounds, ({ readP50Ms }) => readP50Ms)) },
    {
      what: 'last refusal after the overload',
      figure: `${recovery.toFixed(1)} s`,
      target: ['at most 10 s', recovery <= 10],
    },
  ];
}
