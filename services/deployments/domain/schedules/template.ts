import { refuseSchedule } from './refusal.ts';

/** The closed list of placeholders. */
export const PLACEHOLDERS = [
  'scheduled_for',
  'scheduled_for_local',
  'date',
  'timezone',
  'run_id',
  'run_number',
  'previous_run.status',
  'previous_run.scheduled_for',
  'previous_run.session_id',
  'agent_name',
  'name',
] as const;

export type Placeholder = (typeof PLACEHOLDERS)[number];
export type PromptValues = Readonly<Record<Placeholder, string>>;

/** Text and placeholders in their order. */
type Segment = { text: string } | { placeholder: Placeholder };

/** Bounds the size of a rendered prompt, because a value can be longer than its placeholder. */
const MAX_PLACEHOLDERS = 100;
const SHOWN_CHARACTERS = 40;

/** `{{{{`, a placeholder, or an opening `{{` without an end. */
const TOKEN = /\{\{\{\{|\{\{([^{}]*)\}\}|\{\{/g;

/**
 * Parses a prompt with placeholders; `{{{{` stands for `{{`. Refused with INVALID_SCHEDULE and the position of the first
 * fault.
 */
export function parsePrompt(text: string): Segment[] {
  const segments: Segment[] = [];
  let end = 0;
  let placeholders = 0;
  for (const found of text.matchAll(TOKEN)) {
    segments.push({ text: text.slice(end, found.index) });
    end = found.index + found[0].length;
    if (found[0] === '{{{{') {
      segments.push({ text: '{{' });
      continue;
    }
    const placeholder = PLACEHOLDERS.find((name) => name === found[1]?.trim());
    if (!placeholder) throw refusePlaceholder(text, found.index, found[1]);
    if (++placeholders > MAX_PLACEHOLDERS)
      throw refuseAt(text, found.index, `has more than ${MAX_PLACEHOLDERS} placeholders`);
    segments.push({ placeholder });
  }
  segments.push({ text: text.slice(end) });
  return segments;
}

/** Replaces the placeholders of a valid prompt. Braces in values stay text. */
export function renderPrompt(text: string, values: PromptValues): string {
  return parsePrompt(text)
    .map((segment) => ('text' in segment ? segment.text : values[segment.placeholder]))
    .join('');
}

function refusePlaceholder(text: string, index: number, name: string | undefined) {
  if (name === undefined) return refuseAt(text, index, 'has {{ without }}. Write {{{{ for the text {{');
  const shown = name.length > SHOWN_CHARACTERS ? `${name.slice(0, SHOWN_CHARACTERS)}…` : name;
  const known = PLACEHOLDERS.map((placeholder) => `{{${placeholder}}}`).join(', ');
  return refuseAt(
    text,
    index,
    `has the unknown placeholder {{${shown}}}. Known are ${known}. Write {{{{ for the text {{`,
  );
}

function refuseAt(text: string, index: number, message: string) {
  const lines = text.slice(0, index).split('\n');
  const column = [...(lines.at(-1) ?? '')].length + 1;
  return refuseSchedule('/prompt', `at line ${lines.length}, character ${column}: ${message}`);
}
