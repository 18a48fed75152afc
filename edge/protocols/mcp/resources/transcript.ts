import type { MessagePart } from '../../../../lib/event-parts.ts';
import type { EventData } from '../../../../lib/events.ts';

/** The members of a `user.message` or `agent.message` event that a transcript shows. */
export interface TranscriptMessage {
  type: string;
  created_at: string;
  data: Pick<EventData<'user.message'>, 'content' | 'sender'>;
}

export interface TranscriptHead {
  sessionId: string;
  title: string;
  createdAt: Date | undefined;
}

/** The input of a tool call is shown up to this many characters. The events of the session have all of it. */
const INPUT_CHARACTERS = 300;

/** The beginning of a transcript in Markdown. */
export function transcriptHead({ sessionId, title, createdAt }: TranscriptHead): string {
  const created = createdAt ? `, created at ${createdAt.toISOString()}` : '';
  return `# ${oneLine(title) || 'Untitled session'}\n\nSession \`${sessionId}\`${created}.\n`;
}

/**
 * One message as Markdown, with the author and the time as its heading. Texts are unchanged; reasoning is left out, tool
 * calls have one line, and images and files are named.
 */
export function transcriptMessage({ type, created_at: time, data }: TranscriptMessage): string {
  const author = type === 'user.message' ? (data.sender?.name ?? 'User') : 'Agent';
  const parts = data.content.map(partText).filter((text) => text !== '');
  return `\n## ${oneLine(author)}, ${time}\n\n${parts.join('\n\n')}\n`;
}

function partText(part: MessagePart): string {
  switch (part.type) {
    case 'text':
      return part.text.trim();
    case 'tool-call':
      return `> Called \`${part.toolName}\`: ${shortened(JSON.stringify(part.input) ?? '')}`;
    case 'image':
      return `> Image: ${attachment(part.name ?? part.sha256, part.media_type, part.size)}`;
    case 'file':
      return `> File: ${attachment(part.name ?? part.sha256 ?? 'without a name', part.media_type ?? part.mediaType, part.size)}`;
    default:
      return '';
  }
}

function attachment(name: string, mediaType: string | undefined, size: number | undefined): string {
  const details = [mediaType, size === undefined ? undefined : `${size} bytes`].filter(Boolean).join(', ');
  return details === '' ? oneLine(name) : `${oneLine(name)} (${details})`;
}

function shortened(text: string): string {
  return text.length > INPUT_CHARACTERS ? `${text.slice(0, INPUT_CHARACTERS).toWellFormed()}…` : text;
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();
