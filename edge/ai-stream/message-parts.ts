import type { EventData } from '../../lib/events.ts';
import type { UiChunk } from './chunks.ts';
import { storedFile } from './stored-parts.ts';

type Part = EventData<'agent.message'>['content'][number];

/**
 * The parts of the message that the model writes in one step. Deltas and thoughts are previews: the final message contains
 * all of them, and only the parts that were not shown yet are added then.
 */
export class MessageParts {
  readonly messageId: string;
  readonly #partsUrl: string;
  /** The number of shown characters of text, over all parts. */
  #shown = 0;
  #thoughts = 0;
  #parts = 0;
  /** The id of the text part that is still open. */
  #open: string | undefined;

  /** `partsUrl` is the URL of the folder from which the bytes of images and files are read. */
  constructor(messageId: string, partsUrl: string) {
    this.messageId = messageId;
    this.#partsUrl = partsUrl;
  }

  delta(delta: string): UiChunk[] {
    this.#shown += delta.length;
    return this.#text(delta);
  }

  thought(content: readonly Part[]): UiChunk[] {
    this.#thoughts++;
    return this.#reasoning(content.map(textOf).join(''));
  }

  /** Adds the rest of the final message and closes the open part. */
  end(content: readonly Part[]): UiChunk[] {
    const chunks: UiChunk[] = [];
    let shown = this.#shown;
    let thoughts = this.#thoughts;
    for (const part of content) {
      const text = textOf(part);
      if (part.type === 'text' && text.length <= shown) shown -= text.length;
      else if (part.type === 'text') {
        if (shown === 0) chunks.push(...this.#close());
        chunks.push(...this.#text(text.slice(shown)));
        shown = 0;
      } else if (part.type === 'reasoning' && text !== '' && thoughts-- <= 0)
        chunks.push(...this.#reasoning(text));
      else if (part.type === 'image' || part.type === 'file')
        chunks.push(...this.#close(), fileOf(part, this.#partsUrl));
    }
    return [...chunks, ...this.#close()];
  }

  /** For a client that reconnects: starts the open text part again, without its shown text. */
  reopen(): UiChunk[] {
    return this.#open === undefined ? [] : [{ type: 'text-start', id: this.#open }];
  }

  #text(delta: string): UiChunk[] {
    const begun: UiChunk[] = [];
    if (this.#open === undefined) {
      this.#open = this.#nextId();
      begun.push({ type: 'text-start', id: this.#open });
    }
    return [...begun, { type: 'text-delta', id: this.#open, delta }];
  }

  #reasoning(delta: string): UiChunk[] {
    const closed = this.#close();
    const id = this.#nextId();
    return [
      ...closed,
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta },
      { type: 'reasoning-end', id },
    ];
  }

  #close(): UiChunk[] {
    const id = this.#open;
    this.#open = undefined;
    return id === undefined ? [] : [{ type: 'text-end', id }];
  }

  #nextId(): string {
    return `${this.messageId}:${this.#parts++}`;
  }
}

const textOf = (part: Part) => ('text' in part ? part.text : '');

/** Chunks have no file names. Answers of older releases have bytes, and files at other places have URLs. */
function fileOf(part: Extract<Part, { type: 'image' | 'file' }>, partsUrl: string): UiChunk {
  const stored = storedFile(part, partsUrl);
  if (stored) return { type: 'file', url: stored.url, mediaType: stored.mediaType };
  const { data = '', mediaType = '' } = part.type === 'file' ? part : {};
  const isUrl = /^(https?|data):/.test(data);
  return { type: 'file', url: isUrl ? data : `data:${mediaType};base64,${data}`, mediaType };
}
