import { isAuditAction } from '../../../lib/audit-actions.ts';
import { sha256 } from '../../../lib/digest.ts';
import { refuse, refuseField } from '../../../lib/errors.ts';

/** An entry of the audit log: the members that its hash covers. */
export interface AuditEntry {
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

/**
 * Returns the hash of an entry in hexadecimal: the SHA-256 of a JSON array of the hash of the previous entry (empty for the
 * first) and the members of the entry, in this order.
 */
export function chainHash(before: string, entry: AuditEntry): string {
  const { seq, createdAt, actorId, credential, action, targetId, outcome, address, requestId, dataJson } =
    entry;
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
  return sha256(JSON.stringify(members));
}

const OUTCOMES: readonly string[] = ['done', 'refused'];
const DATA_BYTES = 16 * 1024;
const MAX_VERIFIED = 100_000;

/** Checks an entry that another service reports. */
export function checkEntry(entry: Pick<AuditEntry, 'action' | 'outcome' | 'dataJson'>): void {
  const { action, outcome, dataJson } = entry;
  if (!isAuditAction(action)) throw refuse('INVALID_REQUEST', `Unknown audit action ${action}.`);
  if (!OUTCOMES.includes(outcome))
    throw refuse('INVALID_REQUEST', `Unknown outcome ${outcome}: expected done or refused.`);
  if (Buffer.byteLength(dataJson) > DATA_BYTES)
    throw refuse('INVALID_REQUEST', `The data of an audit entry has more than ${DATA_BYTES} bytes.`);
}

/** Rejects filters that match no entry. */
export function checkFilters({ action, outcome }: { action: string; outcome: string }): void {
  if (action !== '' && !isAuditAction(action)) throw refuseField('/action', 'is not an audit action');
  if (outcome !== '' && !OUTCOMES.includes(outcome))
    throw refuseField('/outcome', `must be one of ${OUTCOMES.join(', ')}`);
}

export function checkVerifyLimit(limit: number): void {
  if (limit < 1 || limit > MAX_VERIFIED) throw refuseField('/limit', `must be from 1 to ${MAX_VERIFIED}`);
}
