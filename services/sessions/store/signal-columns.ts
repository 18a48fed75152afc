import type { Signal } from '../domain/signals.ts';
import type { Columns } from './columns.ts';

export interface SignalRow {
  signal: Signal;
  /** Signals of one statement get their ids in this order. */
  ordinal: number;
}

/** The columns of a new signal. */
export const SIGNAL = {
  session_id: ['text', ({ signal }) => signal.sessionId],
  kind: ['text', ({ signal }) => signal.kind],
  turn_id: ['text', ({ signal: { turn } }) => turn?.turnId],
  turn_status: ['text', ({ signal: { turn } }) => turn?.status],
  stop_reason: ['json', ({ signal: { turn } }) => turn?.stopReasonJson],
  usage: ['json', ({ signal: { turn } }) => turn?.usageJson],
  error: ['json', ({ signal: { turn } }) => turn?.errorJson],
  started_at: ['timestamptz', ({ signal: { turn } }) => turn?.startedAt],
  finished_at: ['timestamptz', ({ signal: { turn } }) => turn?.finishedAt],
  approval_id: ['text', ({ signal }) => signal.approvalId],
} satisfies Columns<SignalRow>;

export const SIGNAL_ORDER = {
  ordinal: ['integer', ({ ordinal }) => ordinal],
} satisfies Columns<SignalRow>;

export function signalRows(signals: readonly Signal[]): SignalRow[] {
  return signals.map((signal, ordinal) => ({ signal, ordinal }));
}
