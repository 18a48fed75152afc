import type { MessagePart } from '../../../lib/event-parts.ts';
import { ENVELOPE_TOKENS, estimateTextTokens, tokensOfFile } from '../../../lib/token-estimate.ts';

interface HistoryEvent {
  type: string;
  json: string;
}

interface EventOfHistory {
  data: { content?: string | MessagePart[]; output?: unknown };
}

interface HistoryTokens {
  /** Messages, tool calls and results without images and files. */
  history: number;
  files: number;
}

/** Estimates the tokens of `user.message`, `agent.message` and `agent.tool_result` events. */
export function estimateHistory(events: readonly HistoryEvent[]): HistoryTokens {
  const sum: HistoryTokens = { history: 0, files: 0 };
  for (const { type, json } of events) {
    const { data } = JSON.parse(json) as EventOfHistory;
    sum.history += ENVELOPE_TOKENS;
    if (type === 'agent.tool_result') addOutput(data.output, sum);
    else if (typeof data.content === 'string') sum.history += estimateTextTokens(data.content);
    else for (const part of data.content ?? []) addPart(part, sum);
  }
  return sum;
}

function addPart(part: MessagePart, sum: HistoryTokens): void {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      sum.history += estimateTextTokens(part.text);
      break;
    case 'tool-call':
      sum.history += ENVELOPE_TOKENS + estimateTextTokens(`${part.toolName}${JSON.stringify(part.input)}`);
      break;
    case 'image':
      sum.files += tokensOfFile(part.media_type, part.size);
      break;
    case 'file':
      sum.files += tokensOfFile(part.media_type ?? part.mediaType ?? '', part.size ?? 0);
  }
}

/** An output is a text, a list of parts or another JSON value. */
function addOutput(output: unknown, sum: HistoryTokens): void {
  if (isPartList(output)) {
    for (const part of output) addPart(part, sum);
    return;
  }
  sum.history += estimateTextTokens(typeof output === 'string' ? output : (JSON.stringify(output) ?? ''));
}

function isPartList(output: unknown): output is MessagePart[] {
  return (
    Array.isArray(output) && output.some((part: { sha256?: unknown } | null) => part?.sha256 !== undefined)
  );
}
