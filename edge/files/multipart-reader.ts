import { Dicer } from '@fastify/busboy';
import { refuse } from '../../lib/errors.ts';
import type { BodyReader } from './body-reader.ts';
import { malformed, type PartHead, type PartHeaders, readPartHead } from './part-head.ts';

/** A part of a multipart/form-data body. Its content must be read to the end before the next part is requested. */
export interface MultipartPart extends PartHead {
  content: AsyncIterable<Buffer>;
}

/** A part that the parser has found. */
interface PendingPart {
  stream: Dicer.PartStream;
  headers: PartHeaders | undefined;
}

/** The syntax of boundaries (https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1). */
const BOUNDARY =
  /;[ \t]*boundary=(?:"([\w'()+,./:=? -]{0,69}[\w'()+,./:=?-])"|([\w'()+,./:=?-]{1,70}))[ \t]*(?=;|$)/i;
const BROKEN =
  'The body does not consist of parts with the boundary of its Content-Type, or it ends before the last boundary.';

/** The boundary in a Content-Type. Refuses with UNSUPPORTED_MEDIA_TYPE when there is none. */
export function boundaryOf(contentType: string): string {
  const [, quoted, token] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? token;
  if (boundary === undefined)
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type must name the boundary of the parts.');
  return boundary;
}

/**
 * Reads the parts of a body in order. Apart from one chunk that the parser holds, no more of the body is read than the
 * consumer requests. The parser silently skips malformed parts, so they are detected and refused here.
 */
export class MultipartReader {
  readonly #reader: BodyReader;
  readonly #parser: Dicer;
  readonly #pending: PendingPart[] = [];
  #current: Dicer.PartStream | undefined;
  #failure: { error: unknown } | undefined;
  /** The body has ended. */
  #ended = false;
  /** The last boundary has arrived and all parts have been read. */
  #closed = false;
  #wake: () => void = () => {};

  constructor(reader: BodyReader, boundary: string) {
    this.#reader = reader;
    this.#parser = new Dicer({ boundary });
    this.#parser.on('part', (stream) => this.#addPart(stream));
    this.#parser.on('finish', () => {
      this.#closed = true;
      this.#wake();
    });
    this.#parser.on('error', () => this.#fail(malformed(BROKEN)));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<MultipartPart> {
    void this.#feed();
    try {
      for (let part = await this.#next(); part; part = await this.#next()) yield part;
    } finally {
      this.#fail(malformed(BROKEN));
      this.#reader.discard();
      this.#parser.destroy();
    }
  }

  async #next(): Promise<MultipartPart | undefined> {
    for (;;) {
      const [first] = this.#pending;
      if (first?.headers) {
        this.#pending.shift();
        this.#current = first.stream;
        return { ...readPartHead(first.headers), content: this.#contentOf(first.stream) };
      }
      if (this.#failure) throw this.#failure.error;
      // The headers of the part have no end.
      if (first && (this.#ended || this.#pending.length > 1)) throw malformed(BROKEN);
      if (this.#ended && this.#closed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Rejects when the content of the part is incomplete. */
  async *#contentOf(stream: Dicer.PartStream): AsyncGenerator<Buffer> {
    try {
      for await (const bytes of stream) yield bytes;
    } catch {
      throw this.#failure?.error ?? malformed(BROKEN);
    }
  }

  #addPart(stream: Dicer.PartStream): void {
    const part: PendingPart = { stream, headers: undefined };
    this.#pending.push(part);
    // Errors are reported to the reader of the part; the listener prevents an uncaught error.
    stream.on('error', () => {});
    stream.on('header', (headers) => {
      part.headers = headers as PartHeaders;
      this.#wake();
    });
    this.#wake();
  }

  /** Feeds the body to the parser. Data after the last boundary is discarded. */
  async #feed(): Promise<void> {
    try {
      for (let bytes = await this.#reader.next(); bytes; bytes = await this.#reader.next()) {
        if (this.#failure) return;
        if (!this.#closed && !this.#parser.write(bytes)) await this.#parserDrained();
      }
      if (!this.#closed) this.#parser.end();
      this.#ended = true;
      this.#wake();
    } catch (error) {
      this.#fail(error);
    }
  }

  #parserDrained(): Promise<void> {
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
    // The reader of the current part must not take the received data for its complete content.
    this.#current?.destroy(error instanceof Error ? error : undefined);
    this.#wake();
  }
}
