import type { JSONValue } from '@ai-sdk/provider';
import { estimateTextTokens } from '../../../lib/token-estimate.ts';
import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { HistoryUnit } from './history-unit.ts';
import { outputText } from './moved-output.ts';

/** UTF-16 units of one message or tool result that a summary is written from. */
const MESSAGE_CHARS = 8_000;
const OUTPUT_CHARS = 2_000;
/** A long history is summarized in this many requests at most. The middle of a longer one is left out. */
const MAX_CHUNKS = 6;

interface TranscriptPart {
  type: string;
  text?: string;
  toolName?: string;
  input?: unknown;
  media_type?: string;
  name?: string;
}

interface TranscriptEvent {
  type: string;
  data: { content?: string | TranscriptPart[]; output?: JSONValue; is_error?: boolean };
}

/** Writes units as texts of at most `tokens` estimated tokens each, in order, for the requests that summarize them. */
export function transcriptChunks(units: readonly HistoryUnit[], tokens: number): string[] {
  const chunks: string[] = [];
  let lines: string[] = [];
  let size = 0;
  const close = () => {
    if (lines.length > 0) chunks.push(lines.join('\n'));
    lines = [];
    size = 0;
  };
  for (const line of units.flatMap(({ events }) => events.flatMap(linesOf))) {
    // A token has at least one UTF-16 unit in every tokenizer that the estimate allows for.
    const fitting = line.slice(0, Math.max(1, Math.floor(tokens)));
    const more = estimateTextTokens(fitting) + 1;
    if (size + more > tokens) close();
    lines.push(fitting);
    size += more;
  }
  close();
  const half = MAX_CHUNKS / 2;
  return chunks.length <= MAX_CHUNKS ? chunks : [...chunks.slice(0, half), ...chunks.slice(-half)];
}

function linesOf({ json }: Event): string[] {
  const { type, data } = JSON.parse(json) as TranscriptEvent;
  if (type === 'agent.tool_result') {
    const name = data.is_error ? 'Error of the tool' : 'Result of the tool';
    return [`${name}: ${cut(outputText(data.output ?? ''), OUTPUT_CHARS)}`];
  }
  const speaker = type === 'user.message' ? 'User' : 'Agent';
  const { content = '' } = data;
  if (typeof content === 'string') return [`${speaker}: ${cut(content, MESSAGE_CHARS)}`];
  return content.flatMap((part) => partLine(speaker, part));
}

function partLine(speaker: string, part: TranscriptPart): string[] {
  const { type, text, toolName, input, media_type, name } = part;
  if (type === 'text' && text) return [`${speaker}: ${cut(text, MESSAGE_CHARS)}`];
  if (type === 'tool-call')
    return [`${speaker} calls ${toolName}: ${cut(JSON.stringify(input) ?? '', OUTPUT_CHARS)}`];
  if (type === 'image' || type === 'file')
    return [`${speaker}: [${[type, media_type, name].filter(Boolean).join(' ')}]`];
  return [];
}

function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const half = Math.floor(chars / 2);
  return `${text.slice(0, half)} … ${text.slice(-half)}`;
}
