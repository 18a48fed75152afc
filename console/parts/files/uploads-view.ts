/** A file that is to be uploaded, or a folder that is to be made. */
export interface Upload {
  id: number;
  path: string;
  size: number;
  /** From 0 to 1. */
  part: number;
  state: 'waiting' | 'sending' | 'done' | 'failed';
  /** Why it has failed, in a sentence. */
  reason: string;
}

/** How uploads stand at a moment. It never changes. */
export interface UploadsView {
  /** The first ones that are not done: failed, on their way, waiting. */
  shown: readonly Upload[];
  total: number;
  done: number;
  failed: number;
  /** Under way, or waiting for it. */
  open: number;
  bytes: number;
  sent: number;
  /** Until anything is sent again, because the service has asked for it. */
  pauseMs: number;
}

const SHOWN = 50;

const RANK = { failed: 0, sending: 1, waiting: 2, done: 3 } as const;

/** `pauseMs`: until anything is sent again. */
export function viewOf(items: readonly Upload[], pauseMs: number): UploadsView {
  const counts = { failed: 0, sending: 0, waiting: 0, done: 0 };
  const shown: Upload[][] = [[], [], []];
  let bytes = 0;
  let sent = 0;
  for (const item of items) {
    counts[item.state]++;
    bytes += item.size;
    sent += item.size * item.part;
    const list = shown[RANK[item.state]];
    if (list && list.length < SHOWN) list.push(item);
  }
  return {
    shown: shown
      .flat()
      .slice(0, SHOWN)
      .map(({ id, path, size, part, state, reason }) => ({ id, path, size, part, state, reason })),
    total: items.length,
    done: counts.done,
    failed: counts.failed,
    open: counts.sending + counts.waiting,
    bytes,
    sent,
    pauseMs: counts.waiting > 0 ? pauseMs : 0,
  };
}
