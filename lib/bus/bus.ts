/**
 * Hints between processes: "look again", never the thing itself. A hint may be lost, come twice or
 * late; whoever listens reads the table, and has a timer for the hint that never came.
 */
export interface Bus {
  publish(channel: Channel, subject: string): void;
  /** The listener is called with the subject. The returned function ends it. */
  subscribe(channel: Channel, listener: (subject: string) => void): () => void;
  /** Resolves when every subscriber must have heard what was published, or must not trust what it keeps any longer. */
  settle(keptForMs: number): Promise<void>;
  /** Fails when hints cannot be sent at the moment. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export type Channel =
  | 'sessions.appended'
  | 'turns.ready'
  | 'turns.interrupted'
  | 'sandboxes.ended'
  | 'agents.changed'
  | 'environments.changed'
  | 'deployments.changed'
  | 'users.changed'
  | 'credentials.ended';
