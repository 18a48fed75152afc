import type { Session } from '../gen/types.gen.ts';

export type SessionState = NonNullable<Session['state']>;

const ACTIVE_STATES: readonly Session['state'][] = ['running', 'retrying', 'queued'];

/** Whether the session changes without an action of a user. */
export const isActive = ({ state }: Pick<Session, 'state'>): boolean => ACTIVE_STATES.includes(state);

/** Whether the session has a turn that can be stopped. */
export const isStoppable = (session: Pick<Session, 'state'>): boolean =>
  isActive(session) || session.state === 'needs_input' || session.state === 'needs_approval';

/** Whether a turn runs, waits for a user or is queued. */
export const isBusy = (session: Pick<Session, 'status' | 'current_turn_id' | 'queued_turns'>): boolean =>
  session.status !== 'idle' || session.current_turn_id !== null || session.queued_turns > 0;

/** Whether the session accepts messages. */
export const isWritable = (session: Pick<Session, 'status' | 'archived_at'>): boolean =>
  session.archived_at === null && session.status !== 'terminated';
