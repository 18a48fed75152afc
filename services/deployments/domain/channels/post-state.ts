import { refuseField } from '../../../../lib/errors.ts';

const NOTED_STATES = ['posting', 'posted', 'wanted', 'failed'] as const;
type NotedState = (typeof NOTED_STATES)[number];

/** `dead`: tried for 24 hours. `failed`: the product never takes it. */
export type PostStateName = NotedState | 'dead';

const POST_KINDS: readonly string[] = ['message', 'approval', 'notice', 'file'];

/** A post is dead when no attempt has succeeded for this long. */
const TRYING_MS = 24 * 60 * 60 * 1_000;

/** The part of a post that the product's answers change. */
export interface PostProgress {
  state: PostStateName;
  /** Incremented by each new content. */
  revision: number;
  externalId: string | null;
  /** The content that the product has. Null: none. */
  shownSha256: string | null;
  maybeDuplicate: boolean;
  /** Attempts since the post was last posted. */
  attempts: number;
  /** The first of these attempts. */
  tryingSince: Date | null;
  nextAt: Date | null;
  error: string | null;
}

/** What a worker reports about a post. Empty texts are unchanged. */
export interface PostReport {
  state: NotedState;
  externalId: string;
  shownSha256: string;
  maybeDuplicate: boolean;
  error: string;
  nextAt: Date | undefined;
}

export const NEW_POST: PostProgress = {
  state: 'wanted',
  revision: 1,
  externalId: null,
  shownSha256: null,
  maybeDuplicate: false,
  attempts: 0,
  tryingSince: null,
  nextAt: null,
  error: null,
};

export function checkNotedState(state: string): NotedState {
  const found = NOTED_STATES.find((one) => one === state);
  if (!found) throw refuseField('/posts/state', `must be one of ${NOTED_STATES.join(', ')}`);
  return found;
}

export function checkPostKind(kind: string): string {
  if (!POST_KINDS.includes(kind)) throw refuseField('/posts/kind', `must be one of ${POST_KINDS.join(', ')}`);
  return kind;
}

/** Returns the post after a report. The same report twice has one effect. */
export function reportPost(current: PostProgress, report: PostReport, now: Date): PostProgress {
  const { state, externalId, shownSha256, maybeDuplicate, error, nextAt } = report;
  // A create without an answer stays `posting`, with the time of the next attempt.
  const isAttempt =
    state === 'posting' && error === '' && (current.state !== 'posting' || current.nextAt !== null);
  const changed: PostProgress = {
    ...current,
    state,
    externalId: externalId || current.externalId,
    maybeDuplicate: current.maybeDuplicate || maybeDuplicate,
    attempts: current.attempts + (isAttempt ? 1 : 0),
    tryingSince: current.tryingSince ?? now,
    nextAt: null,
  };
  if (state === 'posting' && error === '') return changed;
  if (state === 'posted') {
    const isNew = shownSha256 !== '' && current.shownSha256 !== null && shownSha256 !== current.shownSha256;
    return {
      ...changed,
      revision: current.revision + (isNew ? 1 : 0),
      shownSha256: shownSha256 || current.shownSha256,
      attempts: 0,
      tryingSince: null,
      error: null,
    };
  }
  if (state === 'failed') return { ...changed, error: error || current.error };
  const isDead = now.getTime() - (changed.tryingSince ?? now).getTime() >= TRYING_MS;
  if (isDead) return { ...changed, state: 'dead', error: error || current.error };
  return { ...changed, error: error || current.error, nextAt: nextAt ?? null };
}

/** Returns a failed or dead post as it is before its first attempt. Others are unchanged. */
export function resendPost(current: PostProgress): PostProgress {
  if (current.state !== 'failed' && current.state !== 'dead') return current;
  return { ...current, state: 'wanted', attempts: 0, tryingSince: null, nextAt: null, error: null };
}
