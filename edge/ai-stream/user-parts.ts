import type { EventData } from '../../lib/events.ts';
import type { UiMessage } from './message-builder.ts';
import { storedFile } from './stored-parts.ts';

/** The parts of a user's message for AI SDK. `partsUrl` is the URL of the folder from which the bytes are read. */
export function userParts(
  content: EventData<'user.message'>['content'],
  partsUrl: string,
): UiMessage['parts'] {
  return content.flatMap((part): UiMessage['parts'] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    const file = storedFile(part, partsUrl);
    return file ? [file] : [];
  });
}
