/** A stream that needs heartbeats and can ask its client to reconnect. */
interface LiveStream {
  sendHeartbeat(): void;
  drain(): void;
}

/** Some proxies close streams that are idle for longer. */
const HEARTBEAT_MS = 15_000;
/** Streams are spread over this many groups, so that heartbeats are spread over the interval. */
const HEARTBEAT_GROUPS = 15;

/** The open streams of this process. One timer sends all heartbeats. */
export class LiveStreams {
  readonly #groups = Array.from({ length: HEARTBEAT_GROUPS }, () => new Set<LiveStream>());
  #current = 0;
  #added = 0;
  #size = 0;
  #timer: NodeJS.Timeout | undefined;
  #draining = false;

  /** Adds a stream until `delete`. While the process is stopping, the stream is drained immediately. */
  add(stream: LiveStream): void {
    this.#groups[this.#added++ % HEARTBEAT_GROUPS]?.add(stream);
    this.#size++;
    this.#timer ??= setInterval(() => this.#sendHeartbeats(), HEARTBEAT_MS / HEARTBEAT_GROUPS);
    if (this.#draining) stream.drain();
  }

  delete(stream: LiveStream): void {
    if (!this.#groups.some((group) => group.delete(stream)) || --this.#size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Asks the clients of all streams to reconnect to another process. */
  drain(): void {
    this.#draining = true;
    for (const group of this.#groups) for (const stream of group) stream.drain();
  }

  #sendHeartbeats(): void {
    this.#current = (this.#current + 1) % HEARTBEAT_GROUPS;
    for (const stream of this.#groups[this.#current] ?? []) stream.sendHeartbeat();
  }
}
