import type { QuestionForm } from '../../../../lib/question-form.ts';

const MAX_REASON_CHARACTERS = 2_000;

/** The form that decides whether a tool may be called. */
export const APPROVAL_FORM: QuestionForm = {
  type: 'object',
  properties: {
    decision: { type: 'string', title: 'Decision', enum: ['allow', 'deny'] },
    reason: {
      type: 'string',
      title: 'Reason',
      description: 'The agent is told it.',
      maxLength: MAX_REASON_CHARACTERS,
    },
  },
  required: ['decision'],
};

/** `input` is JSON text. It is shown completely, because it is what the person allows. */
export function approvalMessage(tool: string, input: string): string {
  return `The agent asks whether it may call ${tool} with this input:\n\n${input}`;
}
