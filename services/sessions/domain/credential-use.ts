import type { Actor } from '../../../lib/event-parts.ts';
import { FieldProblems } from '../../../lib/field-problems.ts';
import { isId } from '../../../lib/ids.ts';
import { type Change, draft, unchanged } from './change.ts';
import { requireLease } from './environment.ts';
import type { SessionState } from './state.ts';

/** A credential that is sent to a host in a turn. */
export interface CredentialUse {
  credentialId: string;
  host: string;
}

const MAX_USES = 50;
const HOST = /^[a-z0-9._[\]:-]{1,270}$/;

/** Refused with INVALID_REQUEST for too many uses, and for malformed ids and hosts. */
export function checkUses(uses: readonly CredentialUse[]): void {
  const problems = new FieldProblems();
  if (uses.length > MAX_USES) problems.add('/uses', `must have at most ${MAX_USES} items`);
  for (const [index, { credentialId, host }] of uses.slice(0, MAX_USES).entries()) {
    if (!isId('crd', credentialId)) problems.add(`/uses/${index}/credential_id`, 'must be crd_…');
    if (!HOST.test(host)) problems.add(`/uses/${index}/host`, 'must be a host in lower case');
  }
  problems.throwIfAny();
}

/** Returns the uses that are not among the journaled ones of a turn, each once. */
export function newUses(uses: readonly CredentialUse[], journaled: readonly string[]): CredentialUse[] {
  const byKey = new Map(uses.map((use) => [keyOf(use), use]));
  for (const key of journaled) byKey.delete(key);
  return [...byKey.values()];
}

/** Journals each new use in the turn of a lease. Refuses with LEASE_LOST when the lease is lost or has expired. */
export function journalUses(
  found: SessionState | undefined,
  lease: { turnId: string; fence: number },
  uses: readonly CredentialUse[],
  now: Date,
): Change {
  const { state, turn } = requireLease(found, lease, now);
  const added = newUses(uses, turn.credentialUses);
  if (added.length === 0) return unchanged(state);
  const actor: Actor = { type: 'agent', id: state.agentId };
  const more = { turnId: turn.turnId, traceparent: turn.traceparent ?? undefined };
  const drafts = added.map(({ credentialId, host }) =>
    draft('credential.used', { credential_id: credentialId, host }, actor, more),
  );
  const credentialUses = [...turn.credentialUses, ...added.map(keyOf)];
  return { ...unchanged(state), drafts, turns: [{ ...turn, credentialUses }] };
}

function keyOf({ credentialId, host }: CredentialUse): string {
  return `${credentialId} ${host}`;
}
