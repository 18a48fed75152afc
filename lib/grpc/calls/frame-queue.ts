/** The maximum size of a group of frames in bytes, unless a single frame is larger. */
const MAX_GROUP_BYTES = 1024 * 1024;

export interface WaitingFrame<Frame> {
  frame: Frame;
  bytes: number;
}

/**
 * The frames that wait for a stream. The reader gets the frames of one turn of the event loop as a group. Parts of long
 * messages take turns with other frames.
 */
export class FrameQueue<Frame> implements AsyncIterableIterator<Frame[]> {
  /** In the order of their arrival. */
  readonly #frames = new Set<WaitingFrame<Frame>>();
  #long: Iterator<WaitingFrame<Frame>>[] = [];
  #bytes = 0;
  #isHeld: boolean;
  #isEnded = false;
  #isScheduled = false;
  #reader: ((result: IteratorResult<Frame[]>) => void) | undefined;
  #onDrained: (() => void) | undefined;

  /** A held queue gives nothing to its reader until `release`. */
  constructor({ isHeld = false } = {}) {
    this.#isHeld = isHeld;
  }

  /** The bytes of the frames and parts that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a frame. Returns what `withdraw` takes. */
  push(frame: Frame, bytes: number): WaitingFrame<Frame> {
    const waiting = { frame, bytes };
    if (this.#isEnded) return waiting;
    this.#frames.add(waiting);
    this.#bytes += bytes;
    this.#schedule();
    return waiting;
  }

  /** Removes a frame. Returns false when the reader has taken it already. */
  withdraw(waiting: WaitingFrame<Frame>): boolean {
    if (!this.#frames.delete(waiting)) return false;
    this.#bytes -= waiting.bytes;
    if (this.#bytes === 0) this.#onDrained?.();
    return true;
  }

  /** Adds the parts of a long message, of this many bytes in total. A part is created when it is sent. */
  pushParts(parts: Iterator<WaitingFrame<Frame>>, bytes: number): void {
    if (this.#isEnded) return;
    this.#long.push(parts);
    this.#bytes += bytes;
    this.#schedule();
  }

  release(): void {
    this.#isHeld = false;
    this.#schedule();
  }

  /** Ends the iteration after the waiting frames. */
  end(): void {
    this.#isEnded = true;
    this.#schedule();
  }

  /** Ends the iteration at once. */
  discard(): void {
    this.#frames.clear();
    this.#long = [];
    this.#bytes = 0;
    this.#isHeld = false;
    this.end();
    this.#onDrained?.();
  }

  /** Resolves when the reader has taken the waiting frames. */
  drained(): Promise<void> {
    if (this.#bytes === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onDrained = resolve;
    return promise;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Frame[]>> {
    return new Promise((resolve) => {
      this.#reader = resolve;
      this.#schedule();
    });
  }

  async return(): Promise<IteratorResult<Frame[]>> {
    this.discard();
    return { done: true, value: undefined };
  }

  /** Answers the reader after the events that are already pending, whose frames join the group. */
  #schedule(): void {
    if (this.#isScheduled || !this.#reader || this.#isHeld || !(this.#hasFrames || this.#isEnded)) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const reader = this.#reader;
      if (!reader) return;
      const group = this.#takeGroup();
      if (group.length === 0 && !this.#isEnded) return;
      this.#reader = undefined;
      reader(group.length > 0 ? { done: false, value: group } : { done: true, value: undefined });
    });
  }

  get #hasFrames(): boolean {
    return this.#frames.size > 0 || this.#long.length > 0;
  }

  #takeGroup(): Frame[] {
    const group: Frame[] = [];
    let bytes = 0;
    for (const waiting of this.#frames) {
      if (group.length > 0 && bytes + waiting.bytes > MAX_GROUP_BYTES) break;
      this.#frames.delete(waiting);
      group.push(waiting.frame);
      bytes += waiting.bytes;
    }
    const long = this.#long;
    this.#long = [];
    for (const parts of long) {
      if (bytes > MAX_GROUP_BYTES) {
        this.#long.push(parts);
        continue;
      }
      const { done, value } = parts.next();
      if (done) continue;
      group.push(value.frame);
      bytes += value.bytes;
      this.#long.push(parts);
    }
    this.#bytes -= bytes;
    if (this.#bytes === 0) this.#onDrained?.();
    return group;
  }
}
