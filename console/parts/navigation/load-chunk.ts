import { useSyncExternalStore } from 'react';

/** Delay of a retry without an `online` event, in milliseconds. */
const RETRY_MS = 2_000;

/**
 * Why a code chunk cannot load: the service is unreachable, or a newer release has replaced the chunk while the page has
 * unsaved changes.
 */
export type LoadObstacle = 'unreachable' | 'outdated';

/**
 * Loads a code chunk of the console. While the service is unreachable it retries, because a reload of the page would discard
 * its content. When a newer release has replaced the chunks, the page reloads as soon as it has no unsaved changes.
 */
export async function loadChunk<Module>(load: () => Promise<Module>): Promise<Module> {
  for (;;) {
    try {
      return await load();
    } catch {
      const release = await compareRelease();
      // The release is unchanged: the chunk fails for another reason, or the service was unreachable for a moment.
      if (release === 'this') return load();
      if (release === 'another' && !hasUnsavedChanges()) location.reload();
      const obstacle = release === 'another' ? 'outdated' : 'unreachable';
      change(obstacle, 1);
      await pause();
      change(obstacle, -1);
    }
  }
}

const listeners = new Set<() => void>();
const waiting: Record<LoadObstacle, number> = { unreachable: 0, outdated: 0 };

function change(obstacle: LoadObstacle, by: number): void {
  waiting[obstacle] += by;
  for (const listener of listeners) listener();
}

/** Returns why a chunk cannot load; undefined when none is waiting. */
export const useLoadObstacle = () => useSyncExternalStore(listen, reason);

function reason(): LoadObstacle | undefined {
  if (waiting.unreachable > 0) return 'unreachable';
  return waiting.outdated > 0 ? 'outdated' : undefined;
}

/** Whether a `beforeunload` handler would ask for a confirmation. */
function hasUnsavedChanges(): boolean {
  return !window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Compares the release of the service with this page by the file name of its main script. */
async function compareRelease(): Promise<'this' | 'another' | 'unknown'> {
  const script = document.querySelector('script[type=module][src]')?.getAttribute('src') ?? '';
  try {
    const response = await fetch('/', { headers: { accept: 'text/html' }, cache: 'no-store' });
    if (!response.ok) return 'unknown';
    return (await response.text()).includes(script) ? 'this' : 'another';
  } catch {
    return 'unknown';
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      window.removeEventListener('online', finish);
      resolve();
    };
    const timer = setTimeout(finish, RETRY_MS);
    window.addEventListener('online', finish);
  });
}
