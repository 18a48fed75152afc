import { CALLBACKS_PER_SECOND } from '../measurements/channels/callbacks.ts';
import type { Channels } from '../measurements/channels/channels.ts';
import { inMib, type WorkerMemory } from '../measurements/channels/worker-memory.ts';
import { inKib } from '../measurements/sessions/idle.ts';
import { median, type Row, spread } from './rows.ts';

/** Results of the measurement of channels per round; empty if it was not measured. */
export interface ChannelResults {
  channels: Channels[];
}

const MAX_CALLBACK_MS = 50;
/** Beyond the pace of the product. */
const MAX_EDIT_MS = 50;
const MAX_CONVERSATION_KIB = 40;
const MAX_CONNECTED_MIB = 150;

export function channelRows({ channels }: ChannelResults): Row[] {
  if (channels.length === 0) return [];
  const perSecond = median(channels, ({ callbacks }) => callbacks.perSecond);
  const ratio = median(channels, ({ callbacks }) => callbacks.perSecond / callbacks.triggersPerSecond);
  const callbackMs = median(channels, ({ callbacks }) => callbacks.paced.p99Ms);
  const editMs = median(channels, ({ edits }) => edits.p99Ms);
  return [
    {
      letter: "t'",
      what: 'messages of channels, verified and committed',
      figure: `${Math.round(perSecond)}/s`,
      ratio: `t'/triggers ${ratio.toFixed(2)}`,
      target: ['at least 0.8', ratio >= 0.8],
    },
    { what: 'at 32 connections', figure: spread(channels, ({ callbacks }) => callbacks) },
    {
      what: `at ${CALLBACKS_PER_SECOND}/s`,
      figure: spread(channels, ({ callbacks }) => callbacks.paced),
      target: [`p99 at most ${MAX_CALLBACK_MS} ms`, callbackMs <= MAX_CALLBACK_MS],
    },
    {
      what: 'delta → its edit, beyond the pace',
      figure: spread(channels, ({ edits }) => edits),
      target: [`p99 at most ${MAX_EDIT_MS} ms`, editMs <= MAX_EDIT_MS],
    },
    ...memoryRows(channels.flatMap(({ memory }) => memory ?? [])),
  ];
}

function memoryRows(rounds: WorkerMemory[]): Row[] {
  if (rounds.length === 0) return [];
  const lasting = median(rounds, ({ conversation }) => conversation.lasting);
  const grown = median(rounds, ({ connected, unconnected }) => connected - unconnected);
  const heap = median(rounds, ({ conversation }) => conversation.heap);
  const connected = median(rounds, (one) => one.connected);
  return [
    {
      what: 'memory of an engaged conversation',
      figure: `objects ${inKib(heap)}, resident ${inKib(lasting)}`,
      target: [`objects at most ${MAX_CONVERSATION_KIB} KiB`, heap <= MAX_CONVERSATION_KIB * 1_024],
    },
    {
      what: `worker with ${rounds[0]?.connections} idle connections`,
      figure: `${inMib(connected)}, grown by ${inMib(grown)}`,
      target: [`at most ${MAX_CONNECTED_MIB} MiB`, connected <= MAX_CONNECTED_MIB * 1_024 * 1_024],
    },
  ];
}
