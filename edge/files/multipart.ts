import { Dicer } from '@fastify/busboy';
import { refuse } from '../../lib/errors.ts';
import type { Inflow } from './inflow.ts';
import { malformed, type PartHead, type PartHeaders, readPartHead } from './part.ts';

/** A part of a multipart/form-data body. Its content has to be read to its end before the next part comes. */
export interface Part extends PartHead {
  content: AsyncIterable<Buffer>;
}

/** A part that the parser has met. */
interface Found {
  stream: Dicer.PartStream;
  headers: PartHeaders | undefined;
}

/** What boundaries may be made of (https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1). */
const BOUNDARY =
  /;[ \t]*boundary=(?:"([\w'()+,./:=? -]{0,69}[\w'()+,./:=?-])"|([\w'()+,./:=?-]{1,70}))[ \t]*(?=;|$)/i;
const BROKEN = 'the body is not made of parts with the boundary of its Content-Type, or ends too early';

/** The boundary that a Content-Type names. Refused with UNSUPPORTED_MEDIA_TYPE when it names none. */
export function boundaryOf(contentType: string): string {
  const [, quoted, token] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? token;
  if (boundary === undefined)
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'the Content-Type must name the boundary of the parts');
  return boundary;
}

/**
 * The parts of a body in their order. No more of it is read than was asked for, apart from a piece that the parser holds.
 * The parser only finds the parts: one that it cannot make sense of is refused here, as it would skip it in silence.
 */
export class Parts {
  readonly #inflow: Inflow;
  readonly #parser: Dicer;
  readonly #found: Found[] = [];
  #current: Dicer.PartStream | undefined;
  #failure: { error: unknown } | undefined;
  /** Its body has come to an end. */
  #ended = false;
  /** The last boundary has come, and all parts have been read. */
  #closed = false;
  #wake: () => void = () => {};

  constructor(inflow: Inflow, boundary: string) {
    this.#inflow = inflow;
    this.#parser = new Dicer({ boundary });
    this.#parser.on('part', (stream) => this.#meet(stream));
    this.#parser.on('finish', () => {
      this.#closed = true;
      this.#wake();
    });
    this.#parser.on('error', () => this.#fail(malformed(BROKEN)));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Part> {
    void this.#feed();
    try {
      for (let part = await this.#next(); part; part = await this.#next()) yield part;
    } finally {
      this.#fail(malformed(BROKEN));
      this.#inflow.leave();
      this.#parser.destroy();
    }
  }

  async #next(): Promise<Part | undefined> {
    for (;;) {
      const [first] = this.#found;
      if (first?.headers) {
        this.#found.shift();
        this.#current = first.stream;
        return { ...readPartHead(first.headers), content: this.#contentOf(first.stream) };
      }
      if (this.#failure) throw this.#failure.error;
      // Its headers have no end.
      if (first && (this.#ended || this.#found.length > 1)) throw malformed(BROKEN);
      if (this.#ended && this.#closed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** A content that breaks off in the middle is no content. */
  async *#contentOf(stream: Dicer.PartStream): AsyncGenerator<Buffer> {
    try {
      for await (const bytes of stream) yield bytes;
    } catch {
      throw this.#failure?.error ?? malformed(BROKEN);
    }
  }

  #meet(stream: Dicer.PartStream): void {
    const part: Found = { stream, headers: undefined };
    this.#found.push(part);
    // A failure reaches whoever reads it; nobody else has to hear of it.
    stream.on('error', () => {});
    stream.on('header', (headers) => {
      part.headers = headers as PartHeaders;
      this.#wake();
    });
    this.#wake();
  }

  /** What comes after the last boundary is read and forgotten. */
  async #feed(): Promise<void> {
    try {
      for (let bytes = await this.#inflow.next(); bytes; bytes = await this.#inflow.next()) {
        if (this.#failure) return;
        if (!this.#closed && !this.#parser.write(bytes)) await this.#drained();
      }
      if (!this.#closed) this.#parser.end();
      this.#ended = true;
      this.#wake();
    } catch (error) {
      this.#fail(error);
    }
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#parser.off('drain', done).off('close', done);
        resolve();
      };
      this.#parser.once('drain', done).once('close', done);
    });
  }

  #fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = { error };
    // Whoever reads it must not take what came for the whole.
    this.#current?.destroy(error instanceof Error ? error : undefined);
    this.#wake();
  }
}
