import { RequestMalformedError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { type Static, Type } from 'typebox';
import { refuse } from '../../../lib/errors.ts';
import type { Turn } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { createInspector } from '../../input/schema.ts';
import { closed, optional } from '../../schemas/common.ts';
import { pendingApprovals } from '../mcp/pending-approvals.ts';
import { pendingQuestions } from '../mcp/pending-questions.ts';
import type { A2aOperation } from './operation.ts';
import type { SendRequest } from './request.ts';

const Decision = closed({
  approval_id: Type.String({ maxLength: 100 }),
  decision: Type.Enum(['allow', 'deny']),
  reason: optional(Type.String({ maxLength: 2_000 })),
});
const Output = closed({ tool_use_id: Type.String({ maxLength: 200 }), output: Type.Unknown() });
type Answer = Static<typeof Decision> | Static<typeof Output>;

const inspectDecision = createInspector(Decision);
const inspectOutput = createInspector(Output);
const isAnswer = (data: unknown): data is Answer =>
  inspectDecision(data).length === 0 || inspectOutput(data).length === 0;

const FORM =
  'A message to a task that waits must have data parts {approval_id, decision, reason?} or {tool_use_id, output} only.';

/** Gives the answers of a message to a turn that waits. All are checked before the first is given. */
export async function answerTask(
  operation: A2aOperation,
  turn: Turn,
  { message }: SendRequest,
): Promise<void> {
  const answers = message.parts.map(({ data }) => data).filter(isAnswer);
  if (answers.length < message.parts.length) {
    if (turn.status === 'blocked') throw new RequestMalformedError(FORM);
    throw new UnsupportedOperationError(
      'The task is running. Send the message without taskId to queue it in the context of the task.',
    );
  }
  const isApprover = operation.scopes.includes('approve');
  if (!isApprover && answers.some((answer) => 'approval_id' in answer))
    throw refuse('SCOPE_INSUFFICIENT', 'A decision about an approval requires the scope `approve`.');
  const [approvals, questions] = await Promise.all([
    pendingApprovals(operation, turn),
    pendingQuestions(operation, turn),
  ]);
  // Others need more than a data part, or run a tool of another client. A person answers them in the console.
  const closedIds = [
    ...approvals.filter(({ kind }) => kind !== 'tool').map((one) => one.approval_id),
    ...questions.filter(({ kind }) => kind !== 'input').map((one) => one.tool_use_id),
  ];
  for (const answer of answers) {
    const id = 'approval_id' in answer ? answer.approval_id : answer.tool_use_id;
    if (closedIds.includes(id)) throw new RequestMalformedError(`${id} is answered in the console.`);
  }
  for (const answer of answers) await give(operation, turn, answer);
}

/** Repeated answers have no further effect. */
async function give({ context, call }: A2aOperation, { sessionId }: Turn, answer: Answer): Promise<void> {
  const { sessions } = context.clients;
  if ('approval_id' in answer) {
    const { approval_id: approvalId, decision, reason = '' } = answer;
    await sessions.decideApproval({ sessionId, approvalId, decision, reason, editedInputJson: '' }, call);
    return;
  }
  const { tool_use_id: toolUseId, output } = answer;
  const outputJson = JSON.stringify(output);
  await sessions.submitToolResult({ sessionId, toolUseId, outputJson, isError: false }, call);
}
