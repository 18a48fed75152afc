import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import type { DeletionStore } from './store/deletions.ts';

/** What is left over, by another replica or by one that has ended, is found within this time. */
const EVERY_MS = 30_000;
/** By then everything that starts together with this one is there. */
const FIRST_MS = 5_000;
const BATCH = 100;

export interface WorkspacesContext {
  store: DeletionStore;
  files: Pick<Client<FilesServiceDefinition>, 'deleteWorkspace'>;
  clock: Clock;
  onError: (error: unknown) => void;
}

export interface Workspaces {
  /** An assistant has been deleted. */
  forget(): void;
  stop(): Promise<void>;
}

/**
 * Deletes the workspaces of assistants that are deleted: at once where that is possible, otherwise again and again.
 * Several replicas may do the same; that it happens twice changes nothing.
 */
export function openWorkspaces({ store, files, clock, onError }: WorkspacesContext): Workspaces {
  const leaving = new AbortController();
  const { signal } = leaving;
  let wanted = false;
  let round: Promise<void> | undefined;
  let cancel = clock.after(FIRST_MS, run);

  function run(): void {
    wanted = true;
    if (signal.aborted || round) return;
    cancel();
    round = sweep().finally(() => {
      round = undefined;
      if (wanted) run();
      else if (!signal.aborted) cancel = clock.after(EVERY_MS, run);
    });
  }

  async function sweep(): Promise<void> {
    wanted = false;
    try {
      let owed = await store.owed('', BATCH);
      while (owed.length > 0 && !signal.aborted) {
        for (const assistantId of owed) await remove(assistantId);
        owed = owed.length < BATCH ? [] : await store.owed(owed.at(-1) ?? '', BATCH);
      }
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
  }

  /** One that cannot be deleted now does not keep the others waiting. */
  async function remove(assistantId: string): Promise<void> {
    if (signal.aborted) return;
    try {
      const place = { of: { $case: 'assistantId' as const, value: assistantId } };
      await files.deleteWorkspace({ place }, { signal });
      await store.settled(assistantId);
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
  }

  return {
    forget: run,
    async stop() {
      leaving.abort();
      cancel();
      await round;
    },
  };
}
