import type { Clock } from '../lib/clock.ts';

/** While the process keeps up, this many requests may run at a time, so that bursts are accepted. */
const MAX_RUNNING = 10_000;
/** The process is overloaded when even the shortest request of an interval takes longer than this. */
const TARGET_MS = 250;
const INTERVAL_MS = 200;
/** While the process is overloaded, at least this many requests may run at a time: two full group commits. */
const MIN_LIMIT = 256;
/** The overload has ended when no request was refused for this long. */
const CALM_MS = 1_000;

/**
 * Decides which webhook requests of this process run. A queue that does not become empty delays every request in it and
 * accepts none more, so it is kept short: the rule of CoDel (RFC 8289). While the process is overloaded, as many requests
 * may run as it ends within the target time. Requests of the deployment with the most running requests are refused first.
 */
export class Admission {
  readonly #clock: Clock;
  /** By deployment. */
  readonly #running = new Map<string, number>();
  #total = 0;
  #limit = MAX_RUNNING;
  /** Milliseconds since the epoch. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  #intervalStartedAt = Number.NEGATIVE_INFINITY;
  /** Of the requests that ended in the current interval. */
  #ended = 0;
  #shortestMs = Number.POSITIVE_INFINITY;
  /** The longest time in which the event loop read requests, while others waited in the kernel. */
  #longestTurnMs = 0;
  #isTurnMeasured = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get running(): number {
    return this.#total;
  }

  /** Returns the function to call when the request ends; undefined when it must not run. */
  enter(deploymentId: string): (() => void) | undefined {
    const now = this.#clock.now().getTime();
    this.#measureTurn(now);
    this.#adapt(now);
    const running = this.#running.get(deploymentId) ?? 0;
    if (this.#total >= this.#limit && !this.#mayExceed(running)) {
      this.#refusedAt = now;
      return undefined;
    }
    this.#running.set(deploymentId, running + 1);
    this.#total++;
    return () => this.#leave(deploymentId, now);
  }

  #leave(deploymentId: string, startedAt: number): void {
    const now = this.#clock.now().getTime();
    this.#ended++;
    // The duration of a request during which the system clock was set back is unknown.
    if (now >= startedAt) this.#shortestMs = Math.min(this.#shortestMs, now - startedAt);
    const running = this.#running.get(deploymentId) ?? 0;
    if (running > 1) this.#running.set(deploymentId, running - 1);
    else this.#running.delete(deploymentId);
    this.#total--;
    this.#adapt(now);
  }

  /** A deployment with few requests is admitted beside one with many, up to twice the limit. */
  #mayExceed(running: number): boolean {
    const deployments = this.#running.size + (running === 0 ? 1 : 0);
    return running < this.#limit / deployments && this.#total < 2 * this.#limit;
  }

  #measureTurn(startedAt: number): void {
    if (this.#isTurnMeasured) return;
    this.#isTurnMeasured = true;
    setImmediate(() => {
      this.#isTurnMeasured = false;
      this.#longestTurnMs = Math.max(this.#longestTurnMs, this.#clock.now().getTime() - startedAt);
    });
  }

  /** Sets the limit at the end of each interval. An interval without requests is no overload. */
  #adapt(now: number): void {
    const elapsedMs = now - this.#intervalStartedAt;
    if (elapsedMs < 0) {
      // The system clock was set back.
      this.#refusedAt = Math.min(this.#refusedAt, now);
      this.#startInterval(now);
      return;
    }
    if (elapsedMs < INTERVAL_MS) return;
    const isSlow =
      this.#total > 0 && this.#shortestMs + this.#longestTurnMs > TARGET_MS && elapsedMs < 2 * INTERVAL_MS;
    if (isSlow || now - this.#refusedAt < CALM_MS)
      this.#limit = Math.min(MAX_RUNNING, Math.max(MIN_LIMIT, (this.#ended * TARGET_MS) / elapsedMs));
    else this.#limit = MAX_RUNNING;
    this.#startInterval(now);
  }

  #startInterval(now: number): void {
    this.#intervalStartedAt = now;
    this.#ended = 0;
    this.#shortestMs = Number.POSITIVE_INFINITY;
    this.#longestTurnMs = 0;
  }
}
