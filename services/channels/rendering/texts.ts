import type { ApprovalView, ToolCallView, TurnEnd } from './turn-view.ts';

/** The sentences that channels post. They are Markdown. */

export const CONTINUES = '_The answer continues …_';
export const IN_FILE = '_The whole answer is in the file answer.md._';

/** Returns a text as inline code, without the characters that would end it. */
export function inlineCode(text: string): string {
  return `\`${text.replace(/[`\n\r]/g, ' ').slice(0, 200)}\``;
}

/** Returns a code block that the text cannot end. */
export function codeBlock(text: string, language: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

export function openIn(consoleUrl: string): string {
  return `[Open the session in the console](${consoleUrl})`;
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  budget_reached: 'The turn has reached its budget.',
  max_steps_reached: 'The turn has reached its limit of steps.',
  refused: 'The model refused to answer.',
  retries_exhausted: 'The turn failed after several attempts.',
};

export function largeFileNotice({ path, size }: { path: string; size: number }, consoleUrl: string): string {
  return `The file ${inlineCode(path)} has ${size.toLocaleString('en-US')} bytes, which is too large here. ${openIn(consoleUrl)}`;
}

/** Returns why a turn ended otherwise than with an answer. Undefined for a usual end. */
export function endNotice(
  { status, error, stopReason = '' }: TurnEnd,
  consoleUrl: string,
): string | undefined {
  const limit = STOP_REASONS[stopReason];
  if (status === 'completed') return limit && `${limit} ${openIn(consoleUrl)}`;
  if (status === 'interrupted') return 'Stopped.';
  if (status === 'cancelled') return 'This message was removed from the queue and gets no answer.';
  const reason = error ? ` (${inlineCode(error.code)})` : '';
  return `The turn failed${reason}. ${openIn(consoleUrl)}`;
}

/** Returns what a turn waits for that can be decided in the console alone. */
export function approvalNotice(approval: ApprovalView, consoleUrl: string): string {
  const { kind, toolName, decision } = approval;
  const { name = '', reason = '', message = '' } = approval.details;
  const of = toolName === '' ? '' : ` of ${inlineCode(toolName)}`;
  const settled = decision === undefined ? openIn(consoleUrl) : 'This was answered.';
  switch (kind) {
    case 'outcome_unknown':
      return `The outcome of a call${of} is unknown, so a person must decide how the turn continues. ${settled}`;
    case 'authorization':
      return `The turn needs access to ${inlineCode(name)}${reason && ` (${reason.replaceAll('_', ' ')})`}. ${settled}`;
    case 'input':
      return `${inlineCode(name)} asks for input${message && `: ${message.slice(0, 1_000)}`}\n\n${settled}`;
    default:
      return `The turn waits for a decision. ${settled}`;
  }
}

/** Returns the question of `ask_user`, or the call that a client must answer. */
export function toolCallNotice({ name, input, kind, state }: ToolCallView, consoleUrl: string): string {
  const settled = state === 'open' ? openIn(consoleUrl) : 'This was answered.';
  if (kind !== 'input') return `The turn waits for the result of ${inlineCode(name)}. ${settled}`;
  const question = questionIn(input);
  return `The agent asks${question ? `: ${question.slice(0, 1_000)}` : ' a question.'}\n\n${settled}`;
}

function questionIn(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  const members = input as Record<string, unknown>;
  const text = members.question ?? members.message;
  return typeof text === 'string' ? text : undefined;
}
