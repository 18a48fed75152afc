import { useSyncExternalStore } from 'react';

/** How long until it is tried again when nobody says that the network is back. */
const PAUSE_MS = 2_000;

/**
 * Loads a piece of the console itself. Where the service cannot be reached it waits until it can: to load the page again, as
 * browsers and routers would, takes away what is there. When a newer release has replaced the pieces, the page becomes that.
 */
export async function piece<Module>(load: () => Promise<Module>): Promise<Module> {
  for (;;) {
    try {
      return await load();
    } catch {
      const release = await newestRelease();
      if (release === 'another') location.reload();
      // It is there, and fails for another reason, or was only just out of reach.
      if (release === 'this') return load();
      change(1);
      await pause();
      change(-1);
    }
  }
}

const listeners = new Set<() => void>();
let waiting = 0;

function change(by: number): void {
  waiting += by;
  for (const listener of listeners) listener();
}

/** Whether a piece waits for the service to be reached. */
export const useWaitingPiece = () => useSyncExternalStore(listen, () => waiting > 0);

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
