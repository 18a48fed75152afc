import type { ContentParts } from '../../schemas/content.ts';

/** A message of a client in the one form that is compared, rendered and sent. */
export interface ChatMessage {
  role: 'system' | 'developer' | 'user' | 'assistant';
  parts: ContentParts;
}
