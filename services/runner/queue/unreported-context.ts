import type { ContextEstimate } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

export type NewContextEstimate = Omit<ContextEstimate, 'events'>;

/** The newest estimate of the model's input, until the reports have all events that it includes. */
export class UnreportedContext {
  #newest: { estimate: NewContextEstimate; upTo: number } | undefined;
  /** The number of events that reports were made of. */
  #reported = 0;

  /** Replaces the estimate. It includes the first `upTo` events of the turn's outbox. */
  set(estimate: NewContextEstimate, upTo: number): void {
    this.#newest = { estimate, upTo };
  }

  /** Counts the events of the next report. Returns the estimate if the report completes the events that it includes. */
  take(events: number): ContextEstimate | undefined {
    const before = this.#reported;
    this.#reported += events;
    if (!this.#newest || this.#newest.upTo > this.#reported) return undefined;
    const { estimate, upTo } = this.#newest;
    this.#newest = undefined;
    return { ...estimate, events: Math.max(0, upTo - before) };
  }
}
