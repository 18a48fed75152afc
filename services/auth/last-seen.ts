import type { Clock } from '../../lib/clock.ts';
import type { CredentialStore } from './store/credentials.ts';

type Kind = Parameters<CredentialStore['recordLastSeen']>[0];

const WRITE_EVERY_MS = 1_000;
/** A stored time is updated only when it is older than this. */
const RESOLUTION_MS = 60_000;

export interface LastSeenWriter {
  /** Records a use at the current time. `before` is the stored time of the last use. */
  record(kind: Kind, id: string, before: Date | null | undefined): void;
  stop(): Promise<void>;
}

/** Stores when users, tokens and logins were last seen: accurate to a minute, in batches, without delaying requests. */
export function startLastSeenWriter(
  store: Pick<CredentialStore, 'recordLastSeen'>,
  clock: Clock,
  onError: (error: unknown) => void,
): LastSeenWriter {
  const pending: Record<Kind, Map<string, Date>> = { tok: new Map(), lgn: new Map(), usr: new Map() };
  let cancel: (() => void) | undefined;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    for (const kind of ['tok', 'lgn', 'usr'] as const) {
      const seen = pending[kind];
      if (seen.size === 0) continue;
      pending[kind] = new Map();
      // A lost update is repeated by the next use after a minute.
      await store.recordLastSeen(kind, seen).catch(onError);
    }
  }

  function begin(): void {
    cancel = undefined;
    writing = (writing ?? Promise.resolve()).then(write);
  }

  return {
    record(kind, id, before) {
      const now = clock.now();
      if (before && now.getTime() - before.getTime() < RESOLUTION_MS) return;
      pending[kind].set(id, now);
      cancel ??= clock.after(WRITE_EVERY_MS, begin);
    },
    async stop() {
      cancel?.();
      begin();
      await writing;
    },
  };
}
