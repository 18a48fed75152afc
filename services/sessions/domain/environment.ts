import { refuse } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/event-parts.ts';
import { type Change, draft, type EventDraft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import type { SessionState, TurnState } from './state.ts';

/** Status of a session's sandbox. A session outlives a lost sandbox. */
export type EnvironmentStatus =
  | 'none'
  | 'provisioning'
  | 'ready'
  | 'suspended'
  | 'restoring'
  | 'lost'
  | 'released';

/** Returns the environment status after a runner has taken a sandbox for the session. */
export function statusAfterTaking(
  status: EnvironmentStatus,
  sandbox: { isNew: boolean; status: EnvironmentStatus },
): EnvironmentStatus {
  if (!sandbox.isNew && sandbox.status !== 'suspended') return sandbox.status;
  return status === 'none' || status === 'provisioning' ? 'provisioning' : 'restoring';
}

/** Changes the environment status. Without a difference there is no event. */
export function changeEnvironmentStatus(
  state: SessionState,
  from: EnvironmentStatus,
  to: EnvironmentStatus,
  reason: string,
): Change {
  const change = unchanged(state);
  if (from !== to) change.drafts = [draft('environment.status_changed', { from, to, reason }, SYSTEM_ACTOR)];
  return change;
}

/** Returns the turn of a lease. Refuses with LEASE_LOST when the lease is lost or has expired. */
export function requireLease(
  state: SessionState | undefined,
  lease: { turnId: string; fence: number } | undefined,
  now: Date,
): { state: SessionState; turn: TurnState } {
  const turn = state?.current;
  const isLeased =
    turn?.status === 'in_progress' &&
    turn.turnId === lease?.turnId &&
    turn.fence === lease.fence &&
    (turn.leaseUntil?.getTime() ?? 0) > now.getTime();
  if (!state || !turn || !isLeased)
    throw refuse('LEASE_LOST', 'The runner no longer holds the turn under this fence.');
  return { state, turn };
}

/** An upload to the session's workspace, or a change of a file in it. */
export interface WorkspaceFileEvent {
  /** Its number among the changes of the workspace. */
  seq: number;
  type: 'files.uploaded' | 'file.created' | 'file.modified' | 'file.deleted';
  /** A JSON object. */
  dataJson: string;
  /** usr_… id of the user who made the change. Empty when the agent made it. */
  userId: string;
  createdAt: Date;
}

/** Appends an event for each file change after `appendedSeq`, the last one that the journal has. */
export function appendFileEvents(
  state: SessionState,
  events: readonly WorkspaceFileEvent[],
  appendedSeq: number,
): Change {
  const change = unchanged(state);
  change.drafts = events.filter(({ seq }) => seq > appendedSeq).map((event) => fileDraft(state, event));
  return change;
}

function fileDraft(
  { agentId }: SessionState,
  { type, dataJson, userId, createdAt }: WorkspaceFileEvent,
): EventDraft {
  const actor: Actor = userId ? { type: 'user', id: userId } : { type: 'agent', id: agentId };
  return { type, dataJson, actor, createdAt: createdAt.toISOString() };
}
