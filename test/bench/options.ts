import { parseArgs } from 'node:util';

/** The measurements and their letters in the table. */
const PARTS = {
  bare: 'b',
  bareapart: 'b"',
  accepted: 'a',
  apart: 'a"',
  finished: "a'",
  latency: 'c',
  turns: 'd',
  followers: 'e',
  idle: 'f',
  catchup: 'g',
  long: "g'",
  size: 'h',
  files: 'i',
  growth: 'k',
  skills: "k'",
  tree: 'l',
  commands: 'm',
  access: 'n',
  egress: "m'",
  lending: "n'",
  mcp: 'n"',
  connecting: "c'",
  credentials: "f'",
  modelkeys: "d'",
  console: 'o',
  memory: 'p',
  wal: 'q',
  separate: 'r',
  reading: 's',
  instances: 't',
  starts: 'v',
  scrape: 'u',
  mcpserving: "u'",
  chatstreams: 'u"',
  claims: 'w',
  schedules: "w'",
  channels: "t'",
  overload: 'x',
  message: 'y',
  history: 'z',
  metadata: "h'",
} as const;
type Part = keyof typeof PARTS;

/** Measured on request only, because filling a large database or workspace takes minutes. */
const ON_REQUEST = ['size', 'metadata', 'tree', 'memory'];
const DEFAULT_PARTS = Object.keys(PARTS).filter((part) => !ON_REQUEST.includes(part));

export interface Options {
  parts: ReadonlySet<Part>;
  rounds: number;
  /** Duration of each measurement in seconds. */
  seconds: number;
  /** Duration of a' and r in seconds. */
  sustained: number;
  /** Factor for the numbers of sessions, followers, connections and events. */
  scale: number;
  profile: boolean;
}

export const USAGE = `
  npm run bench -- [options]

    --only bare,bareapart,accepted,apart,finished,latency,turns,followers,idle,catchup,size,files,growth,
                       tree,commands,access,console,memory,wal,separate,reading,instances,starts,scrape,claims,overload,
                       message,history,metadata,lending,skills,egress,mcp,schedules,channels,connecting,
                       credentials,modelkeys,mcpserving,chatstreams,long
                       measurements, by name or by letter: b, b", a, a", a', c, d, e, f, g, h, i, k, l, m, n, o, p, q,
                       r, s, t, t', u, u', u", v, w, w', x, y, z, h', n', k', m', n", c', f', d', g'
                       (default: all except size, metadata, tree and memory)
    --rounds 3         number of rounds; the results are medians of the rounds
    --seconds 5        duration of each measurement in seconds, after a warm-up
    --sustained 30     duration of a' and r in seconds, in one run (default: six times --seconds)
    --scale 1          factor for the numbers of sessions, followers, connections, events, turns and files of d to m, p, q, t', u', u", w, w' and z
                       (default: a fifth of --seconds, at most 1)
    --profile          also prints the top entries of the CPU profiles of a, a', d, i, j, u', u" and z, from a separate round
`;

/** From this duration in seconds the default scale is 1. */
const FULL_SCALE_SECONDS = 5;
/** One signed request is sent in two measurements and their warm-ups, all within the webhook's freshness window of 300 s. */
const MAX_SECONDS = 120;

/** Throws an Error that names the invalid argument. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: DEFAULT_PARTS.join() },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      sustained: { type: 'string' },
      scale: { type: 'string' },
      profile: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) throw new Error('Usage:');
  const seconds = positive('seconds', values.seconds, MAX_SECONDS);
  return {
    parts: new Set(values.only.split(',').map(partOf)),
    rounds: positive('rounds', values.rounds, 100),
    seconds,
    sustained: positive(
      'sustained',
      values.sustained ?? String(Math.min(6 * seconds, MAX_SECONDS)),
      MAX_SECONDS,
    ),
    scale: positive('scale', values.scale ?? String(Math.min(1, seconds / FULL_SCALE_SECONDS)), 1),
    profile: values.profile,
  };
}

function partOf(text: string): Part {
  const part = text.trim();
  for (const [name, letter] of Object.entries(PARTS)) {
    if (part === name || part === letter) return name as Part;
  }
  throw new Error(`--only: unknown measurement "${part}"`);
}

function positive(name: string, text: string, limit: number): number {
  const value = Number(text);
  if (value > 0 && value <= limit) return value;
  throw new Error(`--${name} must be a number above 0 and at most ${limit}, not "${text}"`);
}
