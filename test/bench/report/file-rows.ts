import type { CommandMemory } from '../measurements/files/command-memory.ts';
import type { Commands } from '../measurements/files/commands.ts';
import type { Rates, Transfers } from '../measurements/files/transfers.ts';
import { SESSION_FORK, type Tree } from '../measurements/files/tree.ts';
import type { UploadMemory } from '../measurements/files/upload-memory.ts';
import type { MessageMemory } from '../measurements/sessions/message-memory.ts';
import { median, ms, type Row } from './rows.ts';

/** Results of the file measurements per round; empty if not measured. */
export interface FileResults {
  transfers: Transfers[];
  growth: UploadMemory[];
  tree: Tree[];
  /** One entry per available sandbox provider. */
  commands: Commands[];
  memory: CommandMemory[];
  message: MessageMemory[];
}

const MIB = 1024 * 1024;

export function fileRows({ transfers, growth, tree, commands, memory, message }: FileResults): Row[] {
  return [
    ...(transfers.length > 0 ? transferRows(transfers) : []),
    ...(growth.length > 0 ? growthRows(growth) : []),
    ...(tree.length > 0 ? treeRows(tree) : []),
    ...commandRows(commands),
    ...(memory.length > 0 ? memoryRows(memory) : []),
    ...(message.length > 0 ? messageRows(message) : []),
  ];
}

function transferRows(rounds: Transfers[]): Row[] {
  const row = (letter: string, what: string, of: (rates: Rates) => number): Row => {
    const ratio = median(rounds, ({ service, bare }) => of(service) / of(bare));
    const [ours, limit] = [median(rounds, (one) => of(one.service)), median(rounds, (one) => of(one.bare))];
    return {
      letter,
      what,
      figure: `${ours.toFixed(0)} MB/s, bare ${limit.toFixed(0)}`,
      ratio: `${letter}/bare ${ratio.toFixed(2)}`,
      target: ['at least 0.7', ratio >= 0.7],
    };
  };
  return [row('i', 'upload', ({ up }) => up), row('j', 'download', ({ down }) => down)];
}

function growthRows(rounds: UploadMemory[]): Row[] {
  const grown = median(rounds, (one) => one.grown) / MIB;
  const size = ((rounds[0]?.bytes ?? 0) / MIB / 1024).toFixed(1);
  return [
    {
      letter: 'k',
      what: `memory, an upload of ${size} GiB`,
      figure: `+${grown.toFixed(0)} MiB`,
      target: ['below 100 MiB', grown < 100],
    },
  ];
}

function messageRows(rounds: MessageMemory[]): Row[] {
  const grown = median(rounds, (one) => one.grown);
  const bytes = median(rounds, (one) => one.bytes);
  const ratio = grown / bytes;
  return [
    {
      letter: 'y',
      what: `edge memory, a message of ${(bytes / MIB).toFixed(1)} MiB with images`,
      figure: `+${(grown / MIB).toFixed(0)} MiB`,
      ratio: `y/size ${ratio.toFixed(2)}`,
      target: ['below 3', ratio < 3],
    },
  ];
}

function memoryRows(rounds: CommandMemory[]): Row[] {
  const peak = median(rounds, (one) => one.peak) / MIB;
  return [
    {
      letter: 'p',
      what: `memory, ${rounds[0]?.files} files in one command`,
      figure: `${peak.toFixed(0)} MiB, ${median(rounds, (one) => one.seconds).toFixed(0)} s`,
      target: ['below 600 MiB', peak < 600],
    },
  ];
}

/** The time that a sandbox adds to a command, from the claim of its turn. */
const AIMS: Record<string, number> = { simulated: 15, bubblewrap: 60 };

function commandRows(rounds: Commands[]): Row[] {
  return [...new Set(rounds.map(({ provider }) => provider))].flatMap((provider): Row[] => {
    const own = rounds.filter((one) => one.provider === provider);
    const bare = median(own, (one) => one.bare.p50Ms);
    const later = median(own, (one) => one.later.p50Ms);
    const aim = AIMS[provider] ?? Number.NaN;
    return [
      {
        letter: 'm',
        what: `claim → first output, ${provider}`,
        figure: `${ms(later)}, bare bash ${ms(bare)}`,
        target: [`at most ${aim} ms above`, later - bare <= aim],
      },
      { what: 'in a new sandbox', figure: ms(median(own, (one) => one.first.p50Ms)) },
    ];
  });
}

function treeRows(rounds: Tree[]): Row[] {
  const operations = (rounds[0]?.operations ?? []).map(({ what }, index): Row => {
    const small = median(rounds, (one) => one.operations[index]?.smallMs ?? Number.NaN);
    const large = median(rounds, (one) => one.operations[index]?.largeMs ?? Number.NaN);
    return {
      what,
      figure: `${ms(small)} → ${ms(large)}`,
      ratio: `× ${(large / small).toFixed(2)}`,
      ...(what === SESSION_FORK ? {} : { target: ['at most 2', large / small <= 2] }),
    };
  });
  const perSecond = median(rounds, (one) => one.perSecond);
  const filled: Row = {
    letter: 'l',
    what: `upload of ${rounds[0]?.files} small files`,
    figure: `${perSecond.toFixed(0)}/s`,
  };
  return [filled, ...operations];
}
