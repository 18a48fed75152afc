import type { Console } from './console.ts';
import { median, type Row } from './rows.ts';

/** What each round has shown of the console; empty when it was not measured. */
export interface ConsoleResults {
  console: Console[];
}

const MAX_KIB = 250;
const MAX_OPEN_MS = 1_500;
const MAX_DEPTH = 2;

export function consoleRows({ console: rounds }: ConsoleResults): Row[] {
  const [first] = rounds;
  if (!first) return [];
  const kib = median(rounds, ({ scriptKiB }) => scriptKiB);
  const long = median(rounds, ({ longMs }) => longMs);
  const short = median(rounds, ({ shortMs }) => shortMs);
  const deepest = Math.max(...rounds.map((one) => one.deepest));
  const late = median(rounds, ({ lateShare }) => lateShare);
  return [
    {
      letter: 'o',
      what: 'console, scripts of the first load',
      figure: `${kib.toFixed(0)} KiB compressed`,
      target: [`at most ${MAX_KIB}`, kib <= MAX_KIB],
    },
    {
      what: `a session of ${first.events} events`,
      figure: `${short.toFixed(0)} ms → ${long.toFixed(0)} ms`,
      ratio: `× ${(long / short).toFixed(2)}`,
      target: [`at most ${MAX_OPEN_MS} ms`, long <= MAX_OPEN_MS],
    },
    {
      what: 'requests that wait for others',
      figure: `${deepest} deep`,
      target: [`at most ${MAX_DEPTH} behind the scripts`, deepest <= MAX_DEPTH + 1],
    },
    { what: 'late frames while scrolling', figure: `${(late * 100).toFixed(0)} %` },
  ];
}
