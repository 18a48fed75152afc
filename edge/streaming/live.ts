import type { Drainable } from './outflow.ts';

/** A stream as this process sees it: something to be kept from falling silent, and to be sent away. */
interface LiveStream extends Drainable {
  beat(): void;
}

/** What is silent for longer is taken for dead by some proxies. */
const HEARTBEAT_MS = 15_000;
/** They do not all beat in the same moment. */
const SHARES = 15;

/** The streams that this process is sending. One timer keeps all of them alive. */
export class LiveStreams {
  readonly #shares = Array.from({ length: SHARES }, () => new Set<LiveStream>());
  #turn = 0;
  #added = 0;
  #size = 0;
  #timer: NodeJS.Timeout | undefined;
  #draining = false;

  /** Keeps a stream in mind until it is deleted. One that begins while the process stops is sent away at once. */
  add(stream: LiveStream): void {
    this.#shares[this.#added++ % SHARES]?.add(stream);
    this.#size++;
    this.#timer ??= setInterval(() => this.#beat(), HEARTBEAT_MS / SHARES);
    if (this.#draining) stream.drain();
  }

  delete(stream: LiveStream): void {
    if (!this.#shares.some((share) => share.delete(stream)) || --this.#size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Sends all clients away, to come back elsewhere. */
  drain(): void {
    this.#draining = true;
    for (const share of this.#shares) for (const stream of share) stream.drain();
  }

  #beat(): void {
    this.#turn = (this.#turn + 1) % SHARES;
    for (const stream of this.#shares[this.#turn] ?? []) stream.beat();
  }
}
