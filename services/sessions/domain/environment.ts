import { refuse } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/events.ts';
import { SYSTEM } from './begin.ts';
import { type Change, type Draft, draft, unchanged } from './change.ts';
import type { SessionState, TurnState } from './state.ts';

/** How the sandbox of a session is doing. A lost sandbox is not a dead session. */
export type EnvironmentStatus =
  | 'none'
  | 'provisioning'
  | 'ready'
  | 'suspended'
  | 'restoring'
  | 'lost'
  | 'released';

/** What becomes of a session's environment when a sandbox is taken for it. */
export function taken(
  status: EnvironmentStatus,
  sandbox: { isNew: boolean; status: EnvironmentStatus },
): EnvironmentStatus {
  if (!sandbox.isNew && sandbox.status !== 'suspended') return sandbox.status;
  return status === 'none' || status === 'provisioning' ? 'provisioning' : 'restoring';
}

/** The session's environment is another one from here on; the same one again is no event. */
export function shift(
  state: SessionState,
  from: EnvironmentStatus,
  to: EnvironmentStatus,
  reason: string,
): Change {
  const change = unchanged(state);
  if (from !== to) change.drafts = [draft('environment.status_changed', { from, to, reason }, SYSTEM)];
  return change;
}

/** The turn that a runner says it holds. Refused with LEASE_LOST when it does not. */
export function held(
  state: SessionState | undefined,
  lease: { turnId: string; fence: number } | undefined,
  now: Date,
): { state: SessionState; turn: TurnState } {
  const turn = state?.current;
  const isHeld =
    turn?.status === 'in_progress' &&
    turn.turnId === lease?.turnId &&
    turn.fence === lease.fence &&
    (turn.leaseUntil?.getTime() ?? 0) > now.getTime();
  if (!state || !turn || !isHeld) throw refuse('LEASE_LOST', 'the turn is no longer held under this fence');
  return { state, turn };
}

/** One change of a file in the session's workspace. */
export interface FileEvent {
  /** Its number among the changes of the workspace. */
  seq: number;
  type: 'file.created' | 'file.modified' | 'file.deleted';
  /** A JSON object. */
  dataJson: string;
  /** usr_…; empty when the agent did it. */
  userId: string;
  createdAt: Date;
}

/** Tells of the files that have changed, but for those that were told of before. */
export function tell(state: SessionState, events: readonly FileEvent[], toldSeq: number): Change {
  const change = unchanged(state);
  change.drafts = events.filter(({ seq }) => seq > toldSeq).map((event) => fileDraft(state, event));
  return change;
}

function fileDraft({ agentId }: SessionState, { type, dataJson, userId, createdAt }: FileEvent): Draft {
  const actor: Actor = userId ? { type: 'user', id: userId } : { type: 'agent', id: agentId };
  return { type, dataJson, actor, createdAt: createdAt.toISOString() };
}
