import { type Static, Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import { pointerStep } from '../../lib/json-schema/pointer.ts';
import { checkStorable } from '../input/json.ts';
import { createInspector } from '../input/schema.ts';
import { optional } from '../schemas/common.ts';
import { outputOfParts, type ReadOutput, readToolOutput } from '../schemas/tool-output.ts';
import { readFileParts, refuseSchemaProblems } from './sent-parts.ts';

const AnsweredPart = Type.Object({
  approval: Type.Object({
    id: Type.String(),
    approved: Type.Boolean(),
    reason: optional(Type.String({ maxLength: 2_000 })),
  }),
});
const FinishedPart = Type.Object({ toolCallId: Type.String(), errorText: optional(Type.String()) });

/** The answer to an approval request. */
export interface ApprovalAnswer {
  approvalId: string;
  approved: boolean;
  reason: string;
}

/** The result of a tool call that the client ran, or the answer to a question. */
export interface ResultAnswer extends ReadOutput {
  toolUseId: string;
  isError: boolean;
  /** The pointer of the part in the body. */
  pointer: string;
}

export interface Answers {
  approvals: ApprovalAnswer[];
  results: ResultAnswer[];
}

const inspectAnsweredPart = createInspector(AnsweredPart);
const inspectFinishedPart = createInspector(FinishedPart);

type Part = { type?: unknown; state?: unknown; output?: unknown } | null | undefined;

/**
 * Reads the approval responses of an assistant message, and the results of client tools in its last step: earlier steps
 * were answered before. `pointer` is the pointer of the message. Refuses with INVALID_REQUEST or INVALID_TEXT.
 */
export function readAnswers({ parts }: Record<string, unknown>, pointer: string, sessionId: string): Answers {
  const list: Part[] = Array.isArray(parts) ? parts : [];
  const lastStep = list.findLastIndex((part) => part?.type === 'step-start');
  const answers: Answers = { approvals: [], results: [] };
  for (const [index, part] of list.entries()) {
    const at = `${pointer}/parts${pointerStep(index)}`;
    if (part?.state === 'approval-responded') answers.approvals.push(readApproval(part, at));
    else if (index > lastStep && isClientResult(part)) answers.results.push(readResult(part, at, sessionId));
  }
  if (answers.approvals.length + answers.results.length === 0)
    throw refuseField(`${pointer}/parts`, 'contains no approval response and no output of a client tool');
  return answers;
}

/** Tools that the service runs have parts of type `dynamic-tool`. */
function isClientResult(part: Part): part is NonNullable<Part> {
  const isStatic = typeof part?.type === 'string' && part.type.startsWith('tool-');
  return isStatic && (part.state === 'output-available' || part.state === 'output-error');
}

function readApproval(part: NonNullable<Part>, pointer: string): ApprovalAnswer {
  refuseSchemaProblems(inspectAnsweredPart(part), pointer);
  const { id, approved, reason = '' } = (part as Static<typeof AnsweredPart>).approval;
  if (!isId('apr', id)) throw refuseField(`${pointer}/approval/id`, 'is not an approval id');
  checkStorable({ reason });
  return { approvalId: id, approved, reason };
}

function readResult(part: NonNullable<Part>, pointer: string, sessionId: string): ResultAnswer {
  refuseSchemaProblems(inspectFinishedPart(part), pointer);
  const { toolCallId: toolUseId, errorText = '' } = part as Static<typeof FinishedPart>;
  const isError = part.state === 'output-error';
  // AI SDK leaves out the output `undefined`.
  const output = isError ? errorText : (part.output ?? null);
  checkStorable({ toolUseId, output });
  const at = `${pointer}/output`;
  const parts = readFileParts(output, at, sessionId);
  const read = parts ? outputOfParts(parts, at, !Array.isArray(output)) : readToolOutput(output, at);
  return { toolUseId, isError, pointer, ...read };
}
