import { useSyncExternalStore } from 'react';

/** How long until it is tried again when nobody says that the network is back. */
const PAUSE_MS = 2_000;

/** Why a piece waits: nobody answers, or a newer release has no such piece and something on this page is not saved. */
export type Wait = 'unreachable' | 'outdated';

/**
 * Loads a piece of the console itself. Where the service cannot be reached it waits until it can: to load the page again, as
 * browsers and routers would, takes away what is there. When a newer release has replaced the pieces, the page becomes that
 * as soon as nothing is lost by it.
 */
export async function piece<Module>(load: () => Promise<Module>): Promise<Module> {
  for (;;) {
    try {
      return await load();
    } catch {
      const release = await newestRelease();
      // It is there, and fails for another reason, or was only just out of reach.
      if (release === 'this') return load();
      if (release === 'another' && !wouldLose()) location.reload();
      const wait = release === 'another' ? 'outdated' : 'unreachable';
      change(wait, 1);
      await pause();
      change(wait, -1);
    }
  }
}

const listeners = new Set<() => void>();
const waiting: Record<Wait, number> = { unreachable: 0, outdated: 0 };

function change(wait: Wait, by: number): void {
  waiting[wait] += by;
  for (const listener of listeners) listener();
}

/** Why a piece waits; undefined when none does. */
export const useWaitingPiece = () => useSyncExternalStore(listen, reason);

function reason(): Wait | undefined {
  if (waiting.unreachable > 0) return 'unreachable';
  return waiting.outdated > 0 ? 'outdated' : undefined;
}

/** Asks whoever would warn of it before the page is left. */
function wouldLose(): boolean {
  return !window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Which release the service has by now; the names of its scripts tell. */
async function newestRelease(): Promise<'this' | 'another' | 'unknown'> {
  const script = document.querySelector('script[type=module][src]')?.getAttribute('src') ?? '';
  try {
    const answer = await fetch('/', { headers: { accept: 'text/html' }, cache: 'no-store' });
    if (!answer.ok) return 'unknown';
    return (await answer.text()).includes(script) ? 'this' : 'another';
  } catch {
    return 'unknown';
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      window.removeEventListener('online', over);
      resolve();
    };
    const timer = setTimeout(over, PAUSE_MS);
    window.addEventListener('online', over);
  });
}
