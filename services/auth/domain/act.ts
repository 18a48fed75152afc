import { isActName } from '../../../lib/acts.ts';
import { refuse, refuseField } from '../../../lib/errors.ts';

/** One line of the audit log, as it is hashed. */
export interface Act {
  seq: number;
  createdAt: Date;
  actorId: string;
  credential: string;
  action: string;
  targetId: string;
  /** done | refused */
  outcome: string;
  address: string;
  requestId: string;
  /** A JSON object. */
  dataJson: string;
}

/** What the hash of a line is computed of, besides the hash of the line before it: its members in this order. */
export function hashedText(before: string, act: Act): string {
  const { seq, createdAt, actorId, credential, action, targetId, outcome, address, requestId, dataJson } =
    act;
  const time = createdAt.toISOString();
  const members = [
    before,
    seq,
    time,
    actorId,
    credential,
    action,
    targetId,
    outcome,
    address,
    requestId,
    dataJson,
  ];
  return JSON.stringify(members);
}

const OUTCOMES: readonly string[] = ['done', 'refused'];
const DATA_BYTES = 16 * 1024;
const MAX_VERIFIED = 100_000;

/** What a service wants to be written down. */
export function checkAct(act: Pick<Act, 'action' | 'outcome' | 'dataJson'>): void {
  const { action, outcome, dataJson } = act;
  if (!isActName(action)) throw refuse('INVALID_REQUEST', `there is no act ${action}`);
  if (!OUTCOMES.includes(outcome))
    throw refuse('INVALID_REQUEST', `an act is done or refused, not ${outcome}`);
  if (Buffer.byteLength(dataJson) > DATA_BYTES) throw refuse('INVALID_REQUEST', 'the act says too much');
}

/** Refuses filters that nothing could fit. */
export function checkFilters({ action, outcome }: { action: string; outcome: string }): void {
  if (action !== '' && !isActName(action)) throw refuseField('/action', 'is none that is written down');
  if (outcome !== '' && !OUTCOMES.includes(outcome))
    throw refuseField('/outcome', `must be one of ${OUTCOMES.join(', ')}`);
}

export function checkPart(limit: number): void {
  if (limit < 1 || limit > MAX_VERIFIED) throw refuseField('/limit', `must be from 1 to ${MAX_VERIFIED}`);
}
