import type { UiChunk } from './chunks.ts';

type PartKind = 'text' | 'reasoning';

/** A text or reasoning part of the current step, as the client shows it. */
interface ShownPart {
  kind: PartKind;
  id: string;
  text: string;
  isOpen: boolean;
}

/** A part that the model writes. */
interface WrittenPart {
  text: string;
  shown: ShownPart;
  /** `shown` is a part of a discarded attempt, and `text` has been its beginning so far. */
  isRepeating: boolean;
}

/** Replaces `reset-step`: the next attempt of a step repeats or continues the shown parts of the discarded one. */
export class RepeatedParts {
  /** The shown parts of the current attempt, and of the discarded one that the current one has not reached. */
  #shown: ShownPart[] = [];
  #discarded: ShownPart[] = [];
  readonly #written = new Map<string, WrittenPart>();

  /** The id under which the client shows a part. */
  shownId(id: string): string {
    return this.#written.get(id)?.shown.id ?? id;
  }

  convert(chunk: UiChunk): UiChunk[] {
    switch (chunk.type) {
      case 'text-start':
        return this.#start('text', chunk.id);
      case 'reasoning-start':
        return this.#start('reasoning', chunk.id);
      case 'text-delta':
      case 'reasoning-delta':
        return this.#write(chunk.id, chunk.delta);
      case 'text-end':
      case 'reasoning-end':
        return this.#end(chunk.id);
      case 'reset-step':
        this.#discarded = [...this.#shown, ...this.#discarded];
        this.#shown = [];
        return [];
      case 'finish-step': {
        const closed = this.#closeDiscarded();
        this.#shown = [];
        return [...closed, chunk];
      }
      case 'start-step':
        // The step of a discarded attempt has begun already.
        return [chunk];
      default:
        return [...(chunk.type.startsWith('data-') ? [] : this.#closeDiscarded()), chunk];
    }
  }

  #start(kind: PartKind, id: string): UiChunk[] {
    const [repeated] = this.#discarded;
    if (repeated?.kind === kind) {
      this.#discarded.shift();
      this.#shown.push(repeated);
      this.#written.set(id, { text: '', shown: repeated, isRepeating: true });
      return [];
    }
    const closed = this.#closeDiscarded();
    return [...closed, ...this.#show(kind, id)];
  }

  #write(id: string, delta: string): UiChunk[] {
    const part = this.#written.get(id);
    if (!part) return [];
    part.text += delta;
    if (!part.isRepeating) return append(part.shown, delta);
    const { shown, text } = part;
    if (shown.text.startsWith(text)) return [];
    const continues = shown.isOpen && text.startsWith(shown.text);
    if (!continues) return this.#replace(id, part);
    part.isRepeating = false;
    return append(shown, text.slice(shown.text.length));
  }

  #end(id: string): UiChunk[] {
    const part = this.#written.get(id);
    if (!part) return [];
    const isShorter = part.isRepeating && part.text !== part.shown.text;
    const replaced = isShorter ? this.#replace(id, part) : [];
    return [...replaced, ...close(this.#written.get(id)?.shown)];
  }

  /** Shows a part under its own id, behind the discarded one that it does not repeat. */
  #replace(id: string, { shown, text }: WrittenPart): UiChunk[] {
    const closed = [...close(shown), ...this.#closeDiscarded()];
    const begun = this.#show(shown.kind, id);
    const part = this.#written.get(id);
    return part ? [...closed, ...begun, ...append(part.shown, text)] : [];
  }

  #show(kind: PartKind, id: string): UiChunk[] {
    const shown = { kind, id, text: '', isOpen: true };
    this.#shown.push(shown);
    this.#written.set(id, { text: '', shown, isRepeating: false });
    return [{ type: `${kind}-start`, id }];
  }

  #closeDiscarded(): UiChunk[] {
    const closed = this.#discarded.flatMap(close);
    this.#discarded = [];
    return closed;
  }
}

function append(shown: ShownPart, delta: string): UiChunk[] {
  shown.text += delta;
  return [{ type: `${shown.kind}-delta`, id: shown.id, delta }];
}

function close(shown: ShownPart | undefined): UiChunk[] {
  if (!shown?.isOpen) return [];
  shown.isOpen = false;
  return [{ type: `${shown.kind}-end`, id: shown.id }];
}
