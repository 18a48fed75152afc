import { type ElicitResultV2, ElicitResultV2Schema } from '@modelcontextprotocol/ext-tasks/core/v2';
import { ProtocolError } from '@modelcontextprotocol/server';
import type { ErrorCode } from '../../../../lib/error-codes.ts';
import { type FieldProblem, Refusal } from '../../../../lib/errors.ts';
import { answerProblems } from '../../../../lib/question-form.ts';
import { INVALID_PARAMS } from '../json-rpc.ts';
import type { McpOperation } from '../operation.ts';
import type { OpenInput } from './open-inputs.ts';

type Answer = () => Promise<unknown>;

const DECLINED = 'The user declined to answer.';
const MAX_PROBLEMS = 20;
/** The input was answered elsewhere at the same time. */
const CLOSED: readonly ErrorCode[] = [
  'APPROVAL_ALREADY_DECIDED',
  'APPROVAL_NOT_FOUND',
  'TOOL_CALL_CLOSED',
  'TOOL_CALL_NOT_FOUND',
  'TOOL_RESULT_CONFLICT',
];

/**
 * Answers the inputs of a turn with the responses of a client. Responses with other keys are ignored, as the protocol wants. All
 * responses are checked before the first one has an effect. Throws a ProtocolError for a response that does not match its form
 * and for a decision without the scope `approve`.
 */
export async function answerInputs(
  operation: McpOperation,
  sessionId: string,
  inputs: readonly OpenInput[],
  responses: Readonly<Record<string, unknown>>,
): Promise<void> {
  const answers = inputs.flatMap((input) =>
    Object.hasOwn(responses, input.key) ? answerOf(operation, sessionId, input, responses[input.key]) : [],
  );
  for (const answer of answers)
    await answer().catch((error: unknown) => {
      if (!(error instanceof Refusal && CLOSED.includes(error.code))) throw error;
    });
}

/** The answer that a response gives. None for a form that the user has closed: the turn goes on waiting. */
function answerOf(
  operation: McpOperation,
  sessionId: string,
  input: OpenInput,
  response: unknown,
): Answer | [] {
  if (input.kind === 'page') return [];
  if (input.kind === 'approval' && !operation.scopes.includes('approve'))
    throw refused(operation, 'SCOPE_INSUFFICIENT', 'A decision requires the scope `approve`.');
  const { success, data: result } = ElicitResultV2Schema.safeParse(response);
  if (!success) throw refused(operation, 'INVALID_REQUEST', `Invalid response to ${quote(input.key)}.`);
  if (result.action === 'cancel') return [];
  if (result.action === 'accept') checkForm(operation, input, result);
  return input.kind === 'approval'
    ? decide(operation, sessionId, input.approvalId, result)
    : submit(operation, sessionId, input.toolUseId, result);
}

function decide(
  { context, call }: McpOperation,
  sessionId: string,
  approvalId: string,
  { action, content }: ElicitResultV2,
): Answer {
  const decision = action === 'accept' ? String(content?.decision) : 'deny';
  const reason = typeof content?.reason === 'string' ? content.reason : '';
  return () =>
    context.clients.sessions.decideApproval(
      { sessionId, approvalId, decision, reason, editedInputJson: '' },
      call,
    );
}

function submit(
  { context, call }: McpOperation,
  sessionId: string,
  toolUseId: string,
  { action, content = {} }: ElicitResultV2,
): Answer {
  const isError = action !== 'accept';
  const outputJson = JSON.stringify(isError ? DECLINED : content);
  return () => context.clients.sessions.submitToolResult({ sessionId, toolUseId, outputJson, isError }, call);
}

function checkForm(
  operation: McpOperation,
  { key, form }: Exclude<OpenInput, { kind: 'page' }>,
  { content = {} }: ElicitResultV2,
): void {
  const problems = answerProblems(form, content);
  if (problems.length === 0) return;
  const text = problems.map(({ pointer, message }) => `${pointer || 'The content'} ${message}`).join('; ');
  throw refused(operation, 'INVALID_REQUEST', `Invalid response to ${quote(key)}: ${text}`, problems);
}

function refused(
  { outcome }: McpOperation,
  code: ErrorCode,
  message: string,
  problems: readonly FieldProblem[] = [],
): ProtocolError {
  outcome.errorCode = code;
  const details = problems.slice(0, MAX_PROBLEMS);
  return new ProtocolError(INVALID_PARAMS, message, { code, ...(details.length > 0 && { details }) });
}

const quote = (text: string) => JSON.stringify(text.slice(0, 100));
