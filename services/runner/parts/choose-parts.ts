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

/**
 * Chooses the newest parts that fit into one request. `ownMessage` is the index of the message that began the turn; its
 * parts come first, and PartsTooLarge is thrown when they do not fit.
 */
export function chooseParts(
  messages: readonly ModelMessage[],
  ownMessage: number,
  model: PartModel,
): ChosenParts {
  const sent: PartReference[] = [];
  const notes = new Map<MessagePart, string>();
  let bytes = 0;
  const { maxBytes, maxParts } = model.parts;

  function choose(index: number): void {
    for (const part of partsOf(messages[index] ?? EMPTY).toReversed()) {
      const reference = referenceIn(part);
      if (!reference) continue;
      const fits = bytes + reference.size <= maxBytes && sent.length < maxParts;
      if (!isAccepted(reference.mediaType, model))
        notes.set(part, note(reference, `the model ${model.name} does not accept this media type`));
      else if (fits) {
        bytes += reference.size;
        sent.push(reference);
      } else if (index === ownMessage) throw tooLarge(model);
      else notes.set(part, note(reference, 'newer images and files fill the request to the model'));
    }
  }

  choose(ownMessage);
  for (let index = messages.length - 1; index >= 0; index--) if (index !== ownMessage) choose(index);
  return { sent, notes };
}

const EMPTY: ModelMessage = { role: 'user', content: '' };

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
