/** A file to upload, or an empty folder to create. */
export interface UploadState {
  id: number;
  path: string;
  size: number;
  /** From 0 to 1. */
  progress: number;
  state: 'waiting' | 'sending' | 'done' | 'failed';
  /** Reason of the failure, as a sentence. */
  reason: string;
}

/** An immutable snapshot of the upload queue. */
export interface UploadsView {
  /** The first unfinished uploads: failed, sending, waiting. */
  shown: readonly UploadState[];
  total: number;
  done: number;
  failed: number;
  /** Number of uploads that are sending or waiting. */
  open: number;
  bytes: number;
  sent: number;
  /** Remaining pause requested by the service, in milliseconds. */
  pauseMs: number;
}

const MAX_SHOWN = 50;

const RANK = { failed: 0, sending: 1, waiting: 2, done: 3 } as const;

/** `pauseMs` is the remaining pause in milliseconds. */
export function viewOf(items: readonly UploadState[], pauseMs: number): UploadsView {
  const counts = { failed: 0, sending: 0, waiting: 0, done: 0 };
  const shown: UploadState[][] = [[], [], []];
  let bytes = 0;
  let sent = 0;
  for (const item of items) {
    counts[item.state]++;
    bytes += item.size;
    sent += item.size * item.progress;
    const list = shown[RANK[item.state]];
    if (list && list.length < MAX_SHOWN) list.push(item);
  }
  return {
    shown: shown
      .flat()
      .slice(0, MAX_SHOWN)
      .map(({ id, path, size, progress, state, reason }) => ({ id, path, size, progress, state, reason })),
    total: items.length,
    done: counts.done,
    failed: counts.failed,
    open: counts.sending + counts.waiting,
    bytes,
    sent,
    pauseMs: counts.waiting > 0 ? pauseMs : 0,
  };
}
