import type { ProviderSettings } from '../../../services/runner/config.ts';

/** What a model says, piece by piece. */
export type Said =
  | { text: string }
  /** `seal` is what the provider wants to see again: a signature, or the thought itself, encrypted. */
  | { thought: string; seal: string }
  | { call: string; name: string; input: string };

/** What goes wrong behind what was said. */
export type Trouble = 'cut' | 'end' | 'garbled' | 'overloaded' | 'limited' | 'too long' | 'silence';

export interface Speech {
  says: Said[];
  tokens?: { input: number; output: number };
  /** Of the answer as a whole; what was said decides when it is absent. */
  ends?: 'length';
  trouble?: Trouble;
}

export interface Refusal {
  status: number;
  /** The provider's name for it. */
  kind: string;
  message: string;
  headers?: Record<string, string>;
}

/** `reset`: the connection is closed without an answer. */
export type Answer = Speech | Refusal | 'reset';

/** How one provider speaks over HTTP. */
export interface Wire {
  name: string;
  /** As an agent names it. */
  model: string;
  path: string;
  key: string;
  /** The header in which the key comes. */
  credential: [name: string, value: string];
  settings(url: string): ProviderSettings;
  /** What is streamed, up to the end of what was said. */
  beginning(speech: Speech): string[];
  ending(speech: Speech): string[];
  /** An error in the middle of a stream. */
  trouble(trouble: 'overloaded' | 'limited' | 'too long'): string;
  refusal(refusal: Refusal): unknown;
}

/** One server-sent event. */
export function frame(data: unknown, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

/** In pieces, as tokens come. */
export function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,7}/gu) ?? [];
}
