import type { Console } from '../measurements/console/console.ts';
import { median, type Row } from './rows.ts';

/** Results of the console measurement per round; empty if it was not measured. */
export interface ConsoleResults {
  console: Console[];
}

const MAX_KIB = 250;
const MAX_OPEN_MS = 1_000;
const MIN_FRAMES = 0.8;
const MAX_IDLE_KB = 5;
const MAX_DEPTH = 2;

export function consoleRows({ console: rounds }: ConsoleResults): Row[] {
  const [first] = rounds;
  if (!first) return [];
  const kib = median(rounds, ({ firstLoad }) => firstLoad.kib);
  const long = median(rounds, ({ longMs }) => longMs);
  const short = median(rounds, ({ shortMs }) => shortMs);
  const deepest = Math.max(...rounds.map((one) => one.deepest));
  const middle = median(rounds, ({ middleMs }) => middleMs);
  const beginning = median(rounds, ({ beginningMs }) => beginningMs);
  const frames = median(rounds, ({ streaming }) => streaming.consoleFps / streaming.bareFps);
  const fps = median(rounds, ({ streaming }) => streaming.consoleFps);
  const idle = median(rounds, ({ idle }) => idle.bytesPerMinute / 1_000);
  const late = median(rounds, ({ lateShare }) => lateShare);
  return [
    {
      letter: 'o',
      what: `console, first load of ${first.firstLoad.page}`,
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
      what: 'an event in its middle, and its first one',
      figure: `${middle.toFixed(0)} ms, ${beginning.toFixed(0)} ms`,
      target: [`at most ${MAX_OPEN_MS} ms`, Math.max(middle, beginning) <= MAX_OPEN_MS],
    },
    {
      what: `frames while ${first.streaming.characters} characters stream`,
      figure: `${fps.toFixed(0)}/s`,
      ratio: `× ${frames.toFixed(2)} of a bare page`,
      target: [`at least ${MIN_FRAMES}`, frames >= MIN_FRAMES],
    },
    {
      what: `traffic of an idle page, ${first.idle.page}`,
      figure: `${idle.toFixed(1)} KB a minute`,
      target: [`at most ${MAX_IDLE_KB}`, idle <= MAX_IDLE_KB],
    },
    {
      what: 'longest chain of requests',
      figure: `${deepest} deep`,
      target: [`at most ${MAX_DEPTH} behind the scripts`, deepest <= MAX_DEPTH + 1],
    },
    { what: 'late frames while scrolling', figure: `${(late * 100).toFixed(0)} %` },
  ];
}
