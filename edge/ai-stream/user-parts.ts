import type { EventData } from '../../lib/events.ts';
import { routeUrl } from '../register-route.ts';
import type { UiMessage } from './message-builder.ts';

/**
 * The parts of a user's message for AI SDK. `partsUrl` is the URL of the folder from which the bytes of images and files are
 * read.
 */
export function userParts(
  content: EventData<'user.message'>['content'],
  partsUrl: string,
): UiMessage['parts'] {
  return content.flatMap((part): UiMessage['parts'] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type !== 'image' && part.type !== 'file') return [];
    const { sha256, media_type: mediaType, name } = part;
    if (sha256 === undefined || mediaType === undefined) return [];
    return [{ type: 'file', mediaType, ...(name && { filename: name }), url: `${partsUrl}/${sha256}` }];
  });
}

/** Pages of other origins need the host of the service. */
export function partsUrlOf(sessionId: string, host: string | undefined): string {
  const path = routeUrl(`/sessions/${sessionId}/parts`);
  return host === undefined ? path : `//${host}${path}`;
}
