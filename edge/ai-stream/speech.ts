import type { EventData } from '../../lib/events.ts';
import type { Chunk } from './chunks.ts';

type Part = EventData<'agent.message'>['content'][number];

/**
 * What the model says in one step, as parts of a message. Deltas are a preview, and so is a thought: the message
 * that comes at the end holds all of it, and only what was not shown yet is added then.
 */
export class Speech {
  readonly messageId: string;
  /** Characters of text that were shown, over all parts. */
  #shown = 0;
  #thoughts = 0;
  #parts = 0;
  /** The text part that can still grow. */
  #open: string | undefined;

  constructor(messageId: string) {
    this.messageId = messageId;
  }

  delta(delta: string): Chunk[] {
    this.#shown += delta.length;
    return this.#say(delta);
  }

  thought(content: readonly Part[]): Chunk[] {
    this.#thoughts++;
    return this.#think(content.map(({ text }) => text ?? '').join(''));
  }

  /** The whole message. */
  end(content: readonly Part[]): Chunk[] {
    const chunks: Chunk[] = [];
    let shown = this.#shown;
    let thoughts = this.#thoughts;
    for (const part of content) {
      const text = part.text ?? '';
      if (part.type === 'text' && text.length <= shown) shown -= text.length;
      else if (part.type === 'text') {
        if (shown === 0) chunks.push(...this.#close());
        chunks.push(...this.#say(text.slice(shown)));
        shown = 0;
      } else if (part.type === 'reasoning' && text !== '' && thoughts-- <= 0)
        chunks.push(...this.#think(text));
      else if (part.type === 'file') chunks.push(...this.#close(), ...fileOf(part));
    }
    return [...chunks, ...this.#close()];
  }

  /** For a reader who comes back: the text that can still grow, without what was shown of it. */
  reopen(): Chunk[] {
    return this.#open === undefined ? [] : [{ type: 'text-start', id: this.#open }];
  }

  #say(delta: string): Chunk[] {
    const begun: Chunk[] = [];
    if (this.#open === undefined) {
      this.#open = this.#nextId();
      begun.push({ type: 'text-start', id: this.#open });
    }
    return [...begun, { type: 'text-delta', id: this.#open, delta }];
  }

  #think(delta: string): Chunk[] {
    const closed = this.#close();
    const id = this.#nextId();
    return [
      ...closed,
      { type: 'reasoning-start', id },
      { type: 'reasoning-delta', id, delta },
      { type: 'reasoning-end', id },
    ];
  }

  #close(): Chunk[] {
    const id = this.#open;
    this.#open = undefined;
    return id === undefined ? [] : [{ type: 'text-end', id }];
  }

  #nextId(): string {
    return `${this.messageId}:${this.#parts++}`;
  }
}

function fileOf(part: Part): Chunk[] {
  const { data, mediaType } = part as { data?: unknown; mediaType?: unknown };
  if (typeof data !== 'string' || typeof mediaType !== 'string') return [];
  const isUrl = /^(https?|data):/.test(data);
  return [{ type: 'file', url: isUrl ? data : `data:${mediaType};base64,${data}`, mediaType }];
}
