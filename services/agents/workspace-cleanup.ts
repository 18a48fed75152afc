import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../lib/grpc/contract.ts';
import type { FilesServiceDefinition } from '../../proto/gen/ahs/files/v1/files.ts';
import type { DeletionStore } from './store/deletions.ts';

/** The interval in which deletions of other or ended replicas are picked up. */
const INTERVAL_MS = 30_000;
/** The delay of the first run, so that services of the same process have started. */
const INITIAL_DELAY_MS = 5_000;
const BATCH = 100;

interface WorkspaceCleanupContext {
  store: DeletionStore;
  files: Pick<Client<FilesServiceDefinition>, 'deleteWorkspace'>;
  clock: Clock;
  onError: (error: unknown) => void;
}

interface WorkspaceCleanup {
  /** Starts a run now, or another run after the current one. */
  request(): void;
  stop(): Promise<void>;
}

/**
 * Deletes the workspaces of deleted assistants, with retries until it succeeds. Several replicas may delete the same
 * workspace; a repeated deletion has no effect.
 */
export function startWorkspaceCleanup({
  store,
  files,
  clock,
  onError,
}: WorkspaceCleanupContext): WorkspaceCleanup {
  const stopping = new AbortController();
  const { signal } = stopping;
  let requested = false;
  let running: Promise<void> | undefined;
  let cancel = clock.after(INITIAL_DELAY_MS, run);

  function run(): void {
    requested = true;
    if (signal.aborted || running) return;
    cancel();
    running = sweep().finally(() => {
      running = undefined;
      if (requested) run();
      else if (!signal.aborted) cancel = clock.after(INTERVAL_MS, run);
    });
  }

  async function sweep(): Promise<void> {
    requested = false;
    try {
      let pending = await store.pending('', BATCH);
      while (pending.length > 0 && !signal.aborted) {
        for (const assistantId of pending) await remove(assistantId);
        pending = pending.length < BATCH ? [] : await store.pending(pending.at(-1) ?? '', BATCH);
      }
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
  }

  /** Deletes one workspace. A failure does not stop the run. */
  async function remove(assistantId: string): Promise<void> {
    if (signal.aborted) return;
    try {
      const place = { of: { $case: 'assistantId' as const, value: assistantId } };
      await files.deleteWorkspace({ place }, { signal });
      await store.markDeleted(assistantId);
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
  }

  return {
    request: run,
    async stop() {
      stopping.abort();
      cancel();
      await running;
    },
  };
}
