import type { Socket } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { readSendQueues } from './send-queues.ts';

/** A response that is written while its client reads it. */
export interface MonitoredResponse {
  /** Data waits for the client, or the connection waits for its end. */
  readonly isPending: boolean;
  /** Increases when the operating system accepts written data. */
  readonly acceptedBytes: number;
  readonly socket: Socket | null;
  /** Closes the connection and discards all data that waits. */
  reset(): void;
}

interface StallMonitorOptions {
  clock: Clock;
  /** A response is reset when its client has read nothing for this long while data waits. */
  stallMs: number;
  /** Called after a response was reset. */
  onStall(): void;
  readSendQueues?: typeof readSendQueues;
}

/** The progress of a response for which data waits. */
interface Progress {
  acceptedBytes: number;
  /** Undefined until it is needed. */
  sendQueue: number | undefined;
  /** Unix milliseconds. */
  at: number;
}

const CHECKS_PER_STALL = 8;
const MAX_INTERVAL_MS = 2_000;

/**
 * Resets responses whose clients have stopped reading. Only an acknowledgement by the client counts as progress, so
 * heartbeats and further events do not prolong the time. One timer serves all responses, and it runs only while one of
 * them has data to send. A response without waiting data costs nothing.
 */
export class StallMonitor {
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #onStall: () => void;
  readonly #readSendQueues: typeof readSendQueues;
  /** Responses that were written since the last check. */
  readonly #written = new Set<MonitoredResponse>();
  readonly #pending = new Map<MonitoredResponse, Progress>();
  #cancel: (() => void) | undefined;

  constructor(options: StallMonitorOptions) {
    this.#clock = options.clock;
    this.#stallMs = options.stallMs;
    this.#onStall = options.onStall;
    this.#readSendQueues = options.readSendQueues ?? readSendQueues;
  }

  /** Called after each write. */
  note(response: MonitoredResponse): void {
    this.#written.add(response);
    this.#cancel ??= this.#schedule();
  }

  stop(): void {
    this.#cancel?.();
  }

  #schedule(): () => void {
    const intervalMs = Math.min(this.#stallMs / CHECKS_PER_STALL, MAX_INTERVAL_MS);
    return this.#clock.after(intervalMs, () => void this.#check());
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    const now = this.#clock.now().getTime();
    for (const response of this.#written) {
      if (response.isPending && !this.#pending.has(response))
        this.#pending.set(response, { acceptedBytes: response.acceptedBytes, sendQueue: undefined, at: now });
    }
    this.#written.clear();
    const suspects = [...this.#pending].filter(([response, progress]) =>
      this.#isSuspect(response, progress, now),
    );
    if (suspects.length > 0) await this.#checkSendQueues(suspects, now);
    const isIdle = this.#pending.size === 0 && this.#written.size === 0;
    this.#cancel = isIdle ? undefined : this.#schedule();
  }

  /** Whether the operating system has accepted no data since the last check. */
  #isSuspect(response: MonitoredResponse, progress: Progress, now: number): boolean {
    if (!response.isPending) {
      this.#pending.delete(response);
      return false;
    }
    const { acceptedBytes } = response;
    if (acceptedBytes <= progress.acceptedBytes) return progress.at < now;
    Object.assign(progress, { acceptedBytes, sendQueue: undefined, at: now });
    return false;
  }

  async #checkSendQueues(suspects: [MonitoredResponse, Progress][], now: number): Promise<void> {
    const sendQueueOf = await this.#readSendQueues();
    for (const [response, progress] of suspects) {
      const sendQueue = response.socket ? sendQueueOf(response.socket) : undefined;
      const isKnown = sendQueue !== undefined && progress.sendQueue !== undefined;
      // While data waits, the send queue changes only when the client has acknowledged data.
      if (isKnown && sendQueue !== progress.sendQueue) progress.at = now;
      progress.sendQueue = sendQueue;
      if (now - progress.at < this.#stallMs || !response.isPending) continue;
      this.#pending.delete(response);
      response.reset();
      this.#onStall();
    }
  }
}
