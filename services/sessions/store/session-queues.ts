import { Semaphore } from '../../../lib/semaphore.ts';

/** Runs the operations of each session one after the other, in the order of their calls. */
export class SessionQueues {
  readonly #queues = new Map<string, { semaphore: Semaphore; operations: number }>();

  /**
   * Rejects with DEPENDENCY_UNAVAILABLE when 1,000 operations of the session wait, and with CANCELLED when the signal
   * aborts before the start.
   */
  async run<T>(sessionId: string, operation: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const queue = this.#queues.get(sessionId) ?? { semaphore: new Semaphore(1), operations: 0 };
    this.#queues.set(sessionId, queue);
    queue.operations++;
    try {
      return await queue.semaphore.run(operation, { signal });
    } finally {
      queue.operations--;
      if (queue.operations === 0) this.#queues.delete(sessionId);
    }
  }
}
