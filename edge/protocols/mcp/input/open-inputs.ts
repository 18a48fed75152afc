import type { QuestionForm } from '../../../../lib/question-form.ts';
import type { Turn } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { McpOperation } from '../operation.ts';
import { pendingApprovals } from '../pending-approvals.ts';
import { pendingQuestions } from '../pending-questions.ts';
import { APPROVAL_FORM, approvalMessage } from './approval-form.ts';

/** An approval or question that a blocked turn waits for, and the way in which a person answers it. */
export type OpenInput = ApprovalInput | QuestionInput | PageInput;

interface FormInput {
  /** Unique among all inputs of the turn. A key is used for one way of answering only. */
  key: string;
  message: string;
  form: QuestionForm;
}

/** A form that allows or denies a tool call. Only for clients with the scope `approve`. */
export interface ApprovalInput extends FormInput {
  kind: 'approval';
  approvalId: string;
}

/** A form with the answer to a question of `ask_user`. */
export interface QuestionInput extends FormInput {
  kind: 'question';
  toolUseId: string;
}

/** A page of the console, for everything that no form of a client answers. */
export interface PageInput {
  kind: 'page';
  key: string;
  message: string;
}

/** A longer input cannot be read in the form of a client. */
const MAX_INPUT_CHARACTERS = 10_000;

/** Returns the inputs of a blocked turn. Unknown kinds are answered in the console. */
export async function openInputs(operation: McpOperation, turn: Turn): Promise<OpenInput[]> {
  const [approvals, questions] = await Promise.all([
    pendingApprovals(operation, turn),
    pendingQuestions(operation, turn),
  ]);
  return [...approvals.map(approvalInput), ...questions.map(questionInput)];
}

type PendingApproval = Awaited<ReturnType<typeof pendingApprovals>>[number];
type PendingQuestion = Awaited<ReturnType<typeof pendingQuestions>>[number];

function approvalInput({ approval_id: id, kind, tool_name: tool, input }: PendingApproval): OpenInput {
  const named = tool === null ? 'a tool' : `the tool ${JSON.stringify(tool)}`;
  const page = (message: string): PageInput => ({ kind: 'page', key: `page:${id}`, message });
  switch (kind) {
    case 'tool': {
      const text = JSON.stringify(input, undefined, 2);
      if (text.length > MAX_INPUT_CHARACTERS)
        return page(
          `The agent asks whether it may call ${named}, with an input that is too long for a form.`,
        );
      const message = approvalMessage(named, text);
      return { kind: 'approval', key: `approval:${id}`, approvalId: id, message, form: APPROVAL_FORM };
    }
    case 'outcome_unknown':
      return page(`A call of ${named} was cut off. Decide in the console how the agent continues.`);
    case 'authorization':
      return page(`The agent needs a credential for ${named}. Authorize it in the console.`);
    default:
      return page(`The agent asks for an input of ${named}. Answer it in the console.`);
  }
}

function questionInput({ tool_use_id: id, kind, name, input }: PendingQuestion): OpenInput {
  if (kind !== 'input')
    return {
      kind: 'page',
      key: `page:${id}`,
      message: `The agent waits for the tool ${JSON.stringify(name)}, which another client runs.`,
    };
  const { question, schema } = input as { question: string; schema: QuestionForm };
  return { kind: 'question', key: `question:${id}`, toolUseId: id, message: question, form: schema };
}
