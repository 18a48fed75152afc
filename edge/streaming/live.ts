import type { FastifyReply } from 'fastify';

interface Drainable {
  drain(): void;
}

/** The streams that this process is sending. */
export class LiveStreams {
  readonly #live = new Set<Drainable>();
  #draining = false;

  /** Keeps a stream in mind until it is over. One that begins while the process stops is sent away at once. */
  add(stream: Drainable, { raw }: FastifyReply): void {
    this.#live.add(stream);
    raw.once('close', () => this.#live.delete(stream));
    if (this.#draining) stream.drain();
  }

  /** Sends all clients away, to come back elsewhere. */
  drain(): void {
    this.#draining = true;
    for (const stream of this.#live) stream.drain();
  }
}

/** Aborts when the answer is over, by whichever side: whoever reads the journal for it can stop. */
export function endOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => controller.abort());
  return controller.signal;
}
