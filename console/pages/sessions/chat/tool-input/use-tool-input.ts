import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ToolCall } from '../../../../journal/chat.ts';
import { jsonText } from '../../../../parts/text/json.ts';
import { type CurrentFile, currentFile } from './current-file.ts';
import { factsOf, type InputSection, type InputSize, isLong, sectionsOf, sizeOf } from './input-sections.ts';
import { parseInput } from './parsed-input.ts';
import { workspacePathOf } from './workspace-path.ts';

/** The input of a tool call, prepared for display. */
export interface DisplayedInput {
  /** Short values, which are always shown. */
  facts: readonly [name: string, text: string][];
  sections: readonly InputSection[];
  size: InputSize;
  isLong: boolean;
  /** The text for the copy button. */
  copyText: string;
}

const EFFECTS: Record<CurrentFile['kind'], string> = {
  absent: 'Creates the file',
  text: 'Replaces the file',
  'not compared': 'Replaces the file, which is too large to compare or not text',
};
const UNKNOWN_EFFECT = 'Unknown. The current file could not be loaded.';

/**
 * Returns the original or edited input of a call. While the call is pending, a write is compared with the current file.
 * Later the file has its new content, so the comparison made before stays.
 */
export function useToolInput(
  sessionId: string,
  { name: tool, seq, state }: ToolCall,
  input: unknown,
): DisplayedInput {
  const key = jsonText(input);
  // Every event creates new objects with the same content.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the content of `input`
  const parsed = useMemo(() => parseInput(tool, input), [tool, key]);
  const path = parsed.kind === 'write' ? workspacePathOf(parsed.path) : undefined;
  const { data: current, isError } = useQuery({
    ...currentFile({ kind: 'session', id: sessionId }, path ?? '', seq),
    enabled: state === 'awaiting_approval' && path !== undefined,
    retry: false,
  });
  return useMemo(() => {
    const sections = sectionsOf(parsed, current?.kind === 'text' ? current.text : undefined);
    const size = sizeOf(sections);
    const facts = factsOf(parsed);
    if (current && parsed.kind === 'write') facts.push(['Effect', EFFECTS[current.kind]]);
    else if (isError) facts.push(['Effect', UNKNOWN_EFFECT]);
    const copyText =
      parsed.kind === 'command' ? parsed.command : parsed.kind === 'write' ? parsed.content : key;
    return { facts, sections, size, isLong: isLong(size), copyText };
  }, [parsed, current, isError, key]);
}
