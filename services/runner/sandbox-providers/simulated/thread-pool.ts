import { ShellThread } from './shell-thread.ts';

/** More threads at the same time would only wait for processors. */
const MAX_THREADS = 16;
/** Idle threads are kept, because starting one takes longer than most commands run. */
const MAX_IDLE = 2;
/** Threads that start at the same time. Running threads may become free in the meantime. */
const MAX_STARTING = 1;

interface ThreadRequest {
  memoryMib: number;
  resolve(thread: ShellThread | undefined): void;
  reject(error: unknown): void;
}

/** The threads in which the commands of all simulated sandboxes run. */
export class ShellThreadPool {
  readonly #idle: ShellThread[] = [];
  readonly #waiting = new Set<ThreadRequest>();
  #busy = 0;
  #starting = 0;

  /** Starts a thread with this memory limit in advance, unless one is idle. */
  prepare(memoryMib: number): void {
    if (this.#starting > 0 || this.#idle.some((thread) => thread.memoryMib === memoryMib)) return;
    this.#start(memoryMib);
  }

  /** Waits for a thread, which the caller must release. Returns undefined when the signal aborts first. */
  async acquire(memoryMib: number, signal: AbortSignal): Promise<ShellThread | undefined> {
    if (signal.aborted) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<ShellThread | undefined>();
    const request = { memoryMib, resolve, reject };
    const cancel = () => {
      if (this.#waiting.delete(request)) resolve(undefined);
    };
    this.#waiting.add(request);
    signal.addEventListener('abort', cancel, { once: true });
    this.#assign();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Keeps the thread for the next command, or terminates it when its command has not ended. */
  async release(thread: ShellThread): Promise<void> {
    if (thread.isReusable) this.#idle.push(thread);
    else await thread.end();
    this.#busy--;
    this.#assign();
    if (this.#idle.length === 0) this.prepare(thread.memoryMib);
    while (this.#idle.length > MAX_IDLE) await this.#idle.shift()?.end();
  }

  /** Assigns idle threads to waiting requests, and starts a thread when none fits. */
  #assign(): void {
    for (const request of this.#waiting) {
      const at = this.#idle.findLastIndex(
        (thread) => thread.isReusable && thread.memoryMib === request.memoryMib,
      );
      const [thread] = at < 0 ? [] : this.#idle.splice(at, 1);
      if (thread) {
        this.#waiting.delete(request);
        this.#busy++;
        request.resolve(thread);
      } else if (this.#starting < MAX_STARTING && this.#busy < MAX_THREADS) this.#start(request.memoryMib);
    }
  }

  #start(memoryMib: number): void {
    this.#starting++;
    ShellThread.start(memoryMib)
      .then(
        (thread) => void this.#idle.push(thread),
        (error: unknown) => {
          const [request] = this.#waiting;
          if (!request) return;
          this.#waiting.delete(request);
          request.reject(error);
        },
      )
      .finally(() => {
        this.#starting--;
        this.#assign();
      });
  }
}
