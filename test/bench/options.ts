import { parseArgs } from 'node:util';

/** What can be measured, and the letter under which the figures stand. */
export const PARTS = {
  bare: 'b',
  accepted: 'a',
  apart: 'a"',
  finished: "a'",
  latency: 'c',
  turns: 'd',
  followers: 'e',
  idle: 'f',
  catchup: 'g',
  size: 'h',
  files: 'i',
  growth: 'k',
  tree: 'l',
  commands: 'm',
  access: 'n',
  console: 'o',
} as const;
export type Part = keyof typeof PARTS;

/** Filling a large database or workspace takes minutes: only for whoever asks for it. */
const UNUSUAL = ['size', 'tree'];
const USUAL = Object.keys(PARTS).filter((part) => !UNUSUAL.includes(part));

export interface Options {
  parts: ReadonlySet<Part>;
  rounds: number;
  /** How long each measurement lasts. */
  seconds: number;
  /** How long turns are run to their end beside the senders, in one piece. */
  sustained: number;
  /** What part of the sessions, followers, connections and events takes part. */
  scale: number;
  profile: boolean;
}

export const USAGE = `
  npm run bench -- [options]

    --only bare,accepted,apart,finished,latency,turns,followers,idle,catchup,size,files,growth,tree,
                       commands,access,console
                       or their letters: b, a, a", a', c, d, e, f, g, h, i, k, l, m, n, o;
                       all but size and tree when it is not given
    --rounds 3         how often; the medians count
    --seconds 5        how long each measurement lasts, after a warm-up
    --sustained 30     how long a' lasts, in one piece; six times --seconds when it is not given
    --scale 1          what part of the sessions, followers, connections, events and files of d to m takes part;
                       a fifth of --seconds and at most 1 when it is not given
    --profile          the heaviest entries of the CPU profiles of a, a', d, i and j, in a round of their own
`;

/** With so many seconds the figures are worth the whole of the sessions and followers. */
const WHOLE = 5;
/** A signed request may be five minutes old. */
const LONGEST = 240;

/** Throws an Error that says what is wrong with the arguments. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: USUAL.join() },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      sustained: { type: 'string' },
      scale: { type: 'string' },
      profile: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) throw new Error('What npm run bench can be told:');
  const seconds = positive('seconds', values.seconds, LONGEST);
  return {
    parts: new Set(values.only.split(',').map(partOf)),
    rounds: positive('rounds', values.rounds, 100),
    seconds,
    sustained: positive('sustained', values.sustained ?? String(Math.min(6 * seconds, LONGEST)), LONGEST),
    scale: positive('scale', values.scale ?? String(Math.min(1, seconds / WHOLE)), 1),
    profile: values.profile,
  };
}

function partOf(text: string): Part {
  const wanted = text.trim();
  for (const [name, letter] of Object.entries(PARTS)) {
    if (wanted === name || wanted === letter) return name as Part;
  }
  throw new Error(`--only: there is no "${wanted}"`);
}

function positive(name: string, text: string, limit: number): number {
  const value = Number(text);
  if (value > 0 && value <= limit) return value;
  throw new Error(`--${name} is a number above 0 and up to ${limit}, not "${text}"`);
}
