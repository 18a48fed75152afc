import type { Clock } from '../../lib/clock.ts';
import type { CredentialStore } from './store/credentials.ts';

type Kind = Parameters<CredentialStore['touch']>[0];

const EVERY_MS = 1_000;
/** What is known of the last use may be so old before a new one is written down. */
const GRAIN_MS = 60_000;

export interface Sightings {
  /** It is seen now, and was last seen then, as far as the database knows. */
  note(kind: Kind, id: string, before: Date | null | undefined): void;
  stop(): Promise<void>;
}

/** Writes down when users, tokens and logins were last seen: to the minute, many at once, and without delay to anybody. */
export function openSightings(
  store: Pick<CredentialStore, 'touch'>,
  clock: Clock,
  onError: (error: unknown) => void,
): Sightings {
  const waiting: Record<Kind, Map<string, Date>> = { tok: new Map(), lgn: new Map(), usr: new Map() };
  let cancel: (() => void) | undefined;
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    for (const kind of ['tok', 'lgn', 'usr'] as const) {
      const seen = waiting[kind];
      if (seen.size === 0) continue;
      waiting[kind] = new Map();
      // What is lost is seen again a minute later.
      await store.touch(kind, seen).catch(onError);
    }
  }

  function begin(): void {
    cancel = undefined;
    writing = (writing ?? Promise.resolve()).then(write);
  }

  return {
    note(kind, id, before) {
      const now = clock.now();
      if (before && now.getTime() - before.getTime() < GRAIN_MS) return;
      waiting[kind].set(id, now);
      cancel ??= clock.after(EVERY_MS, begin);
    },
    async stop() {
      cancel?.();
      begin();
      await writing;
    },
  };
}
