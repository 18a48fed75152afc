import type { Session } from '../gen/types.gen.ts';

export type SessionState = NonNullable<Session['state']>;

const ACTIVE_STATES: readonly Session['state'][] = ['running', 'retrying', 'queued'];

/** Whether the session changes without an action of a user. */
export const isActive = ({ state }: Pick<Session, 'state'>): boolean => ACTIVE_STATES.includes(state);

/** Whether the session has a turn that can be stopped. */
export const isStoppable = (session: Pick<Session, 'state'>): boolean =>
  isActive(session) || session.state === 'needs_input' || session.state === 'needs_approval';
