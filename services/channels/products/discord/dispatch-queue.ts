import type { EventReceiver } from '../product.ts';
import { type ResumeState, writeResumeState } from './resume-state.ts';

const MAX_BATCH = 50;

export interface Dispatch {
  sequence: number;
  /** The event in the form that services/deployments/channels/products/discord parses. */
  json: string;
  /** Called after the event was committed. */
  acknowledge?: (() => void) | undefined;
}

interface DispatchQueueOptions {
  receiver: EventReceiver;
  applicationId: string;
  /** The session that is resumed. */
  session: ResumeState | undefined;
  onError(error: unknown): void;
}

/**
 * Commits events in the order of their arrival, all that have arrived together. The state of the session moves with them, so
 * that a connection resumes with the first event that is not committed.
 */
export class DispatchQueue {
  readonly #options: DispatchQueueOptions;
  #committed: ResumeState | undefined;
  #lastAdded: number;
  #waiting: Dispatch[] = [];
  /** The session has begun and is not committed yet. */
  #begun: PromiseWithResolvers<void> | undefined;
  #isRunning = false;
  #isEnded = false;

  constructor(options: DispatchQueueOptions) {
    this.#options = options;
    this.#committed = options.session;
    this.#lastAdded = options.session?.sequence ?? 0;
  }

  /** Up to the last committed event. */
  get session(): ResumeState | undefined {
    return this.#committed;
  }

  /**
   * A new session has begun. Events of the one before are committed already or lost with it. Resolves when the session is
   * committed: until then, events would be lost with this worker, because no other one could resume the session.
   */
  begin(session: ResumeState): Promise<void> {
    this.#committed = session;
    this.#lastAdded = session.sequence;
    this.#begun ??= Promise.withResolvers();
    const { promise } = this.#begun;
    this.#start();
    return promise;
  }

  add(dispatch: Dispatch): void {
    if (this.#isEnded || this.#isRepeated(dispatch.sequence)) return;
    this.#lastAdded = dispatch.sequence;
    this.#waiting.push(dispatch);
    this.#start();
  }

  /** An event that is not committed. */
  skip(sequence: number): void {
    if (this.#isEnded || this.#isRepeated(sequence)) return;
    this.#lastAdded = sequence;
    if (!this.#isRunning && this.#committed) this.#committed = { ...this.#committed, sequence };
  }

  /** Events that are not committed come again when the session is resumed. */
  end(): void {
    this.#isEnded = true;
    this.#waiting = [];
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#run().catch((error: unknown) => {
      this.end();
      this.#options.onError(error);
    });
  }

  #isRepeated(sequence: number): boolean {
    return sequence <= this.#lastAdded;
  }

  async #run(): Promise<void> {
    const { receiver, applicationId } = this.#options;
    while (this.#begun || this.#waiting.length > 0) {
      const begun = this.#begun;
      this.#begun = undefined;
      const batch = this.#waiting.splice(0, MAX_BATCH);
      const before = this.#committed;
      const sequence = batch.at(-1)?.sequence ?? before?.sequence ?? 0;
      const state = before && { ...before, sequence };
      await receiver.accept(
        batch.map(({ json }) => json),
        state && writeResumeState(state, applicationId),
      );
      if (this.#committed === before) this.#committed = state;
      begun?.resolve();
      for (const { acknowledge } of batch) acknowledge?.();
    }
    this.#isRunning = false;
  }
}
