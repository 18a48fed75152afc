import type { Callbacks } from '../measurements/channels/callbacks.ts';
import { median, type Row, spread } from './rows.ts';

/** Results of the measurement of callbacks per round; empty if it was not measured. */
export interface ChannelResults {
  callbacks: Callbacks[];
}

export function channelRows({ callbacks }: ChannelResults): Row[] {
  if (callbacks.length === 0) return [];
  const perSecond = median(callbacks, (one) => one.perSecond);
  const ratio = median(callbacks, (one) => one.perSecond / one.triggersPerSecond);
  const p99Ms = median(callbacks, (one) => one.p99Ms);
  return [
    {
      letter: "t'",
      what: 'messages of channels, verified and committed',
      figure: `${Math.round(perSecond)}/s`,
      ratio: `t'/triggers ${ratio.toFixed(2)}`,
      target: ['at least 0.8', ratio >= 0.8],
    },
    {
      what: 'at 32 connections',
      figure: spread(callbacks, (one) => one),
      target: ['p99 at most 50 ms', p99Ms <= 50],
    },
  ];
}
