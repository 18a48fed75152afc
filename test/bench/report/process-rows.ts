import type { Instances } from '../measurements/processes/instances.ts';
import type { Reading } from '../measurements/processes/reading.ts';
import type { Scrape } from '../measurements/processes/scrape.ts';
import type { Starts } from '../measurements/processes/starts.ts';
import { median, type Row } from './rows.ts';

/** Results of the measurements of processes per round; empty if not measured. */
export interface ProcessResults {
  reading: Reading[];
  instances: Instances[];
  scrape: Scrape[];
  starts: Starts[];
}

const MIB = 1024 * 1024;
const MAX_RATIO = 1.6;
const MAX_SERIES = 1_500;
const MAX_KILOBYTES = 150;
const MAX_MEBIBYTES = 130;
const MAX_SECONDS = 0.6;
/** The calls of one instance may differ from one half by this share. */
const TOLERANCE = 0.05;

export function processRows({ reading, instances, scrape, starts }: ProcessResults): Row[] {
  return [
    ...(reading.length > 0 ? [readingRow(reading)] : []),
    ...(instances.length > 0 ? [spreadRow(instances)] : []),
    ...(scrape.length > 0 ? [scrapeRow(scrape)] : []),
    ...startRows(starts),
  ];
}

function readingRow(rounds: Reading[]): Row {
  const ratio = median(rounds, ({ separateUs, oneProcessUs }) => separateUs / oneProcessUs);
  const us = (of: (one: Reading) => number) => median(rounds, of).toFixed(0);
  return {
    letter: 's',
    what: 'GET agent, process per target',
    figure: `${us((one) => one.separateUs)} µs CPU, one ${us((one) => one.oneProcessUs)}`,
    ratio: `× ${ratio.toFixed(2)}`,
    target: [`at most ${MAX_RATIO}`, ratio <= MAX_RATIO],
  };
}

function spreadRow(rounds: Instances[]): Row {
  const share = median(rounds, (one) => one.share);
  return {
    letter: 't',
    what: 'calls of two sessions instances',
    figure: `${(share * 100).toFixed(1)} % and ${((1 - share) * 100).toFixed(1)} %`,
    target: ['50 ± 5 %', Math.abs(share - 0.5) <= TOLERANCE],
  };
}

function scrapeRow(rounds: Scrape[]): Row {
  const kilobytes = median(rounds, ({ bytes }) => bytes) / 1_000;
  const series = median(rounds, (one) => one.series);
  return {
    letter: 'u',
    what: 'scrape of /metrics, one process',
    figure: `${kilobytes.toFixed(0)} KB, ${series} series`,
    target: [
      `at most ${MAX_KILOBYTES} KB, ${MAX_SERIES} series`,
      kilobytes <= MAX_KILOBYTES && series <= MAX_SERIES,
    ],
  };
}

function startRows(rounds: Starts[]): Row[] {
  return (rounds[0]?.targets ?? []).map(({ target }, index): Row => {
    const mebibytes = median(rounds, ({ targets }) => targets[index]?.rss ?? Number.NaN) / MIB;
    const cpuMs = ({ targets }: Starts) => targets[index]?.cpuMs ?? Number.NaN;
    const seconds = median(rounds, cpuMs) / 1_000;
    const ratio = median(rounds, (one) => cpuMs(one) / one.bare.cpuMs);
    return {
      letter: index === 0 ? 'v' : '',
      what: `start of ${target}`,
      figure: `${mebibytes.toFixed(0)} MiB, ${seconds.toFixed(2)} s CPU`,
      ratio: `${ratio.toFixed(1)} × bare`,
      target: [
        `at most ${MAX_MEBIBYTES} MiB, ${MAX_SECONDS} s`,
        mebibytes <= MAX_MEBIBYTES && seconds <= MAX_SECONDS,
      ],
    };
  });
}
