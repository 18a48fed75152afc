/**
 * Hints between processes. A hint says that data has changed and carries no data. A hint can be lost, repeated or
 * late, so a subscriber reads the table when it gets one and also polls on a timer.
 */
export interface Bus {
  publish(channel: Channel, subject: string): void;
  /** Calls the listener with the subject of each hint. The returned function unsubscribes. */
  subscribe(channel: Channel, listener: (subject: string) => void): () => void;
  /**
   * Resolves when every subscriber has either received all published hints or must treat its cached data as expired.
   * `maxCacheAgeMs` is the longest time for which a subscriber caches data.
   */
  awaitPropagation(maxCacheAgeMs: number): Promise<void>;
  /** Rejects when hints cannot be sent now. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export type Channel =
  | 'sessions.appended'
  | 'sessions.followed'
  | 'sessions.signals'
  | 'turns.ready'
  | 'turns.interrupted'
  | 'turns.steered'
  | 'sandboxes.ended'
  | 'agents.changed'
  | 'environments.changed'
  | 'extensions.changed'
  | 'deployments.changed'
  | 'schedules.changed'
  /** A channel was changed, or a probe of it was requested. The subject is the id of its deployment, as in the next two. */
  | 'channels.changed'
  /** Work for channel workers may be ready. */
  | 'channels.work'
  /** Posts can be pulled. */
  | 'channels.posts'
  /** A probe was claimed or answered. The subject is its id. */
  | 'channels.probed'
  | 'users.changed'
  | 'credentials.ended'
  /**
   * A lent credential may have ended. The subject is the id of the credential, of its vault, or of the agent or assistant
   * whose vaults have changed.
   */
  | 'credentials.changed';
