import type { JSONValue } from '@ai-sdk/provider';
import type { EventData } from '../../../lib/events.ts';

export type MovedResult = NonNullable<EventData<'agent.context_compacted'>['moved']>[number];

/** The output of a tool as text: a string as it is, another value as JSON. */
export function outputText(output: JSONValue): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

/** The text that the model gets in place of the output of a tool. */
export function movedOutput(output: JSONValue, { path, bytes, shown }: MovedResult): string {
  const excerpt = shown === 0 ? '' : `${outputText(output).slice(0, shown)}\n`;
  const place =
    path === undefined
      ? 'It is left out because of its length.'
      : `It is in the file ${path}; read the parts that you need.`;
  return `${excerpt}[The output of this tool has ${bytes} bytes. ${place}]`;
}
