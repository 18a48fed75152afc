import type { EventData } from '../../lib/events.ts';
import type { UiMessage } from './message-builder.ts';

/** The parts of a user's message for AI SDK. */
export function userParts(content: EventData<'user.message'>['content']): UiMessage['parts'] {
  return content.flatMap((part): UiMessage['parts'] =>
    part.type === 'text' ? [{ type: 'text', text: part.text ?? '' }] : [],
  );
}
