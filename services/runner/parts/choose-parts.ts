import type { ModelMessage } from 'ai';
import { acceptsMediaType, isTextType } from '../../../lib/model-media.ts';
import type { ModelEntry } from '../../../lib/models/entry.ts';
import { matchesMedia, type PartSupport } from '../models/part-support.ts';
import { describePart, type MessagePart, type PartReference, partsOf, referenceIn } from './reference.ts';

/** A model and what its protocol can carry. */
export interface PartModel {
  /** `<provider>/<model id>` */
  name: string;
  entry: ModelEntry | undefined;
  parts: PartSupport;
}

/** The parts of the message of a turn exceed what one request to its model can carry. */
export class PartsTooLarge extends Error {
  override readonly name = 'PartsTooLarge';
}

interface ChosenParts {
  sent: PartReference[];
  /** The texts that take the place of the parts that are not sent. */
  notes: Map<MessagePart, string>;
}

interface WindowPart {
  part: MessagePart;
  reference: PartReference;
  /** The index of its message. */
  message: number;
}

/**
 * Chooses the parts of one request: as if the messages had come one after another, the oldest parts leave when a new one
 * does not fit, until half of the limits is free. So the parts of one request are also in the next one, and the provider can
 * cache what both have in common, until the limits are reached again. The parts of the newest user message with parts stay
 * while others can leave. `ownMessage` is the index of the message that began the turn. PartsTooLarge is thrown when its
 * parts do not fit.
 */
export function chooseParts(
  messages: readonly ModelMessage[],
  ownMessage: number,
  model: PartModel,
): ChosenParts {
  const notes = new Map<MessagePart, string>();
  const window = new PartWindow(model.parts);
  for (const [message, content] of messages.entries()) {
    for (const part of partsOf(content)) {
      const reference = referenceIn(part);
      if (!reference) continue;
      if (!isAccepted(reference.mediaType, model)) {
        notes.set(part, note(reference, `the model ${model.name} does not accept this media type`));
        continue;
      }
      if (content.role === 'user') window.keptMessage = message;
      for (const left of window.add({ part, reference, message })) {
        if (left.message === ownMessage) throw tooLarge(model);
        notes.set(left.part, note(left.reference, 'newer images and files fill the request to the model'));
      }
    }
  }
  return { sent: window.references(), notes };
}

/** The parts that fit into a request, oldest first. */
class PartWindow {
  /** The message whose parts leave last. */
  keptMessage = -1;
  readonly #limits: PartSupport;
  #parts: WindowPart[] = [];
  #bytes = 0;

  constructor(limits: PartSupport) {
    this.#limits = limits;
  }

  /** Adds the newest part. Returns the parts that leave because of it, oldest first. */
  add(part: WindowPart): WindowPart[] {
    this.#parts.push(part);
    this.#bytes += part.reference.size;
    if (this.#fits(1)) return [];
    const isKept = ({ message }: WindowPart) => message === this.keptMessage;
    return [
      ...this.#removeUntil(2, (one) => one !== part && !isKept(one)),
      ...this.#removeUntil(1, (one) => !isKept(one)),
      ...this.#removeUntil(1, () => true),
    ];
  }

  references(): PartReference[] {
    return this.#parts.map(({ reference }) => reference);
  }

  /** Removes the oldest parts that may leave until the others need at most this part of the limits. */
  #removeUntil(divisor: number, mayLeave: (part: WindowPart) => boolean): WindowPart[] {
    const left: WindowPart[] = [];
    for (const part of [...this.#parts]) {
      if (this.#fits(divisor)) break;
      if (!mayLeave(part)) continue;
      this.#bytes -= part.reference.size;
      this.#parts = this.#parts.filter((one) => one !== part);
      left.push(part);
    }
    return left;
  }

  #fits(divisor: number): boolean {
    const { maxBytes, maxParts } = this.#limits;
    return this.#bytes <= maxBytes / divisor && this.#parts.length <= maxParts / divisor;
  }
}

function isAccepted(mediaType: string, { entry, parts }: PartModel): boolean {
  if (acceptsMediaType(entry, mediaType) === false) return false;
  return isTextType(mediaType) || matchesMedia(parts.messages, mediaType);
}

function note(part: PartReference, reason: string): string {
  return `[${describePart(part)}: not sent, because ${reason}]`;
}

function tooLarge({ name, parts: { maxBytes, maxParts } }: PartModel): PartsTooLarge {
  const limit = `${Math.floor(maxBytes / 1024 / 1024)} MiB and ${maxParts} images and files`;
  return new PartsTooLarge(
    `The images and files of the message exceed the limit of a request to ${name}: ${limit}.`,
  );
}
