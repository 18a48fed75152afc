import { Thread } from './thread.ts';

/** More at the same time would wait for processors anyway. */
const MOST = 16;
/** Kept when there is nothing to do: a new one takes longer to load than most commands run. */
const MOST_IDLE = 2;
/** Made at the same time; meanwhile, others may have done their work. */
const MOST_MADE = 1;

interface Waiting {
  memoryMib: number;
  resolve(thread: Thread | undefined): void;
  reject(error: unknown): void;
}

/** The threads in which the commands of all sandboxes run. */
export class Threads {
  readonly #idle: Thread[] = [];
  readonly #waiting = new Set<Waiting>();
  #busy = 0;
  #making = 0;

  /** Has one ready for commands that may use as much. */
  prepare(memoryMib: number): void {
    if (this.#making > 0 || this.#idle.some((one) => one.memoryMib === memoryMib)) return;
    this.#make(memoryMib);
  }

  /** One that is ready; it has to be given back. Undefined when the signal aborts before there is one. */
  async take(memoryMib: number, signal: AbortSignal): Promise<Thread | undefined> {
    if (signal.aborted) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<Thread | undefined>();
    const waiting = { memoryMib, resolve, reject };
    const give = () => {
      if (this.#waiting.delete(waiting)) resolve(undefined);
    };
    this.#waiting.add(waiting);
    signal.addEventListener('abort', give, { once: true });
    this.#settle();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', give);
    }
  }

  /** One whose command goes on is ended. */
  async giveBack(thread: Thread): Promise<void> {
    if (thread.isFit) this.#idle.push(thread);
    else await thread.end();
    this.#busy--;
    this.#settle();
    if (this.#idle.length === 0) this.prepare(thread.memoryMib);
    while (this.#idle.length > MOST_IDLE) await this.#idle.shift()?.end();
  }

  /** Whoever waits gets one, now or as soon as another is made. */
  #settle(): void {
    for (const waiting of this.#waiting) {
      const at = this.#idle.findLastIndex((one) => one.isFit && one.memoryMib === waiting.memoryMib);
      const [thread] = at < 0 ? [] : this.#idle.splice(at, 1);
      if (thread) {
        this.#waiting.delete(waiting);
        this.#busy++;
        waiting.resolve(thread);
      } else if (this.#making < MOST_MADE && this.#busy < MOST) this.#make(waiting.memoryMib);
    }
  }

  #make(memoryMib: number): void {
    this.#making++;
    Thread.make(memoryMib)
      .then(
        (thread) => void this.#idle.push(thread),
        (error: unknown) => {
          const [waiting] = this.#waiting;
          if (!waiting) return;
          this.#waiting.delete(waiting);
          waiting.reject(error);
        },
      )
      .finally(() => {
        this.#making--;
        this.#settle();
      });
  }
}
