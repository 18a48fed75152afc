import type { Connecting } from '../measurements/vaults/connecting.ts';
import type { IdleCredentials } from '../measurements/vaults/idle-credentials.ts';
import type { ModelKeys } from '../measurements/vaults/model-keys.ts';
import { median, ms, type Row, spread } from './rows.ts';

/** Results of the measurements of connections, idle credentials and model keys per round; empty if not measured. */
export interface VaultResults {
  connecting: Connecting[];
  idleCredentials: IdleCredentials[];
  modelKeys: ModelKeys[];
}

const MAX_ONE_MS = 1_000;
const MAX_ALL_MS = 5_000;
const MAX_MIB = 5;
/** That of the first lending in a turn. */
const MAX_ADDED_MS = 10;

export function vaultRows({ connecting, idleCredentials, modelKeys }: VaultResults): Row[] {
  return [
    ...(connecting.length > 0 ? connectingRows(connecting) : []),
    ...(idleCredentials.length > 0 ? credentialRows(idleCredentials) : []),
    ...(modelKeys.length > 0 ? modelKeyRows(modelKeys) : []),
  ];
}

function connectingRows(rounds: Connecting[]): Row[] {
  const one = median(rounds, (round) => round.one.p50Ms);
  const all = median(rounds, ({ allMs }) => allMs);
  const ratioOfOne = median(rounds, (round) => round.one.p50Ms / round.bareOne.p50Ms);
  const ratioOfAll = median(rounds, ({ allMs, bareAllMs }) => allMs / bareAllMs);
  return [
    {
      letter: "c'",
      what: 'connecting → the call',
      figure: spread(rounds, (round) => round.one),
      ratio: `c'/new turn ${ratioOfOne.toFixed(2)}`,
      target: ['at most 1 s', one <= MAX_ONE_MS],
    },
    {
      what: `connecting → ${rounds[0]?.sessions} calls`,
      figure: ms(all),
      ratio: `c'/new turns ${ratioOfAll.toFixed(2)}`,
      target: ['at most 5 s', all <= MAX_ALL_MS],
    },
  ];
}

function credentialRows(rounds: IdleCredentials[]): Row[] {
  const mib = (bytes: number) => bytes / 1_024 / 1_024;
  const lasting = median(rounds, ({ grown }) => mib(grown.lasting));
  const heap = median(rounds, ({ grown }) => mib(grown.heap));
  const count = rounds[0]?.credentials ?? 0;
  return [
    {
      letter: "f'",
      what: `memory of ${count} idle credentials`,
      figure: `${lasting.toFixed(1)} MiB, objects ${heap.toFixed(1)} MiB`,
      ratio: `${((lasting * 1_024) / count).toFixed(1)} KiB each`,
      target: [`at most ${MAX_MIB} MiB`, lasting <= MAX_MIB],
    },
  ];
}

function modelKeyRows(rounds: ModelKeys[]): Row[] {
  const added = median(rounds, ({ withKey, withoutKey }) => withKey.p50Ms - withoutKey.p50Ms);
  const ratio = median(rounds, ({ withKey, withoutKey }) => withKey.p50Ms / withoutKey.p50Ms);
  const lent = Math.max(...rounds.map(({ lentWithoutKey }) => lentWithoutKey));
  return [
    {
      letter: "d'",
      what: 'turn with a model key',
      figure: spread(rounds, ({ withKey }) => withKey),
      ratio: `d'/without ${ratio.toFixed(2)}`,
      target: [`at most ${MAX_ADDED_MS} ms more`, added <= MAX_ADDED_MS],
    },
    { what: 'turn without one', figure: spread(rounds, ({ withoutKey }) => withoutKey) },
    { what: 'keys lent to turns without one', figure: `${lent}`, target: ['0', lent === 0] },
  ];
}
