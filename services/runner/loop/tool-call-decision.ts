import { createHash } from 'node:crypto';
import type { Ask, CallDecision, OpenCall } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { InputAnswer } from '../tool-calls/tool-call.ts';
import { type ClientTool, isClientTool } from '../tools/client-tool.ts';
import { EFFECT_UNKNOWN } from '../tools/run-tool.ts';
import type { RegisteredTool } from '../tools/tool.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { ToolCall, ToolCallResult } from './model-step.ts';
import { authorizationRefusal, inputAnswer } from './recorded-decision.ts';

/**
 * How an open call continues: run the tool, ask for an approval or for the answer of a client tool, or answer the model
 * without running the tool.
 */
export type ToolCallDecision =
  | { kind: 'run'; run: ToolRun }
  /** `run` is set when the tool was prepared: the call runs when its credential is there. */
  | { kind: 'ask'; ask: Ask; tool: AnyTool; run?: ToolRun }
  | { kind: 'answer'; result: ToolCallResult };

type AnyTool = RegisteredTool | ClientTool;

/** One run of a tool. */
export interface ToolRun {
  call: ToolCall;
  tool: RegisteredTool;
  input: Record<string, unknown>;
  /** The same as JSON text. */
  inputJson: string;
  /** 1 for the first time. */
  attempt: number;
  /** Set when a person changed the input. */
  editedInput?: unknown;
  /** Set when a person was asked for input. */
  answer?: InputAnswer | undefined;
}

/** What earlier attempts of the turn have recorded about a call. */
export type CallRecord = Pick<OpenCall, 'dispatches' | 'decision' | 'answer'>;

/** The record of a call that has only its `agent.tool_use` event. */
export const NOT_DISPATCHED: CallRecord = { dispatches: 0, decision: undefined };

/**
 * Decides from the journal alone, so that every runner continues a call in the same way. A call that was dispatched and
 * has no result may have taken effect: unless repeating it is harmless, it is repeated only after a person approved
 * that, and each approval is valid for one repetition.
 */
export async function decideToolCall(
  call: ToolCall,
  record: CallRecord,
  toolbox: Toolbox,
): Promise<ToolCallDecision> {
  const { dispatches, decision } = record;
  const tool = toolbox.find(call.name);
  const facts: CallFacts = { call, ...record, ...effectiveInput(call, decision) };
  // Calls of client tools are never dispatched.
  if (dispatches > 0) return decideDispatchedCall(facts, tool && isClientTool(tool) ? undefined : tool);
  if (!tool) return rejected(`There is no tool ${call.name}.`);
  if (decision?.kind === 'authorization') {
    const refusal = authorizationRefusal(decision);
    if (refusal !== undefined) return rejected(refusal);
    // The call was allowed when it requested the authorization.
    if (toolbox.permissionOf(call.name) !== 'deny') return runApproved(facts, tool);
  }
  if (decision?.kind === 'tool') {
    const { reason } = decision;
    if (decision.decision === 'allow') return runApproved(facts, tool);
    if (decision.decision === 'deny')
      return rejected(`Denied by a person: ${reason || 'no reason was given'}`);
    if (decision.decision === 'expired') {
      return rejected('The approval of this tool call expired, so the tool was not run.');
    }
  }
  const permission = toolbox.permissionOf(call.name);
  if (permission === 'deny') return rejected(`The tool ${call.name} may not be used.`);
  const problem = await tool.inputProblem(call.input);
  if (problem !== undefined) return rejected(invalidInput(problem));
  return permission === 'ask' ? ask('tool', facts, tool) : runApproved(facts, tool);
}

interface CallFacts extends CallRecord {
  call: ToolCall;
  /** The input for the tool, as JSON text. */
  inputJson: string;
  isEdited: boolean;
}

/** The input of the decision; without a decision, the input of the model. */
function effectiveInput({ input }: ToolCall, decision: CallDecision | undefined) {
  const modelInput = JSON.stringify(input);
  const inputJson = decision?.inputJson || modelInput;
  return { inputJson, isEdited: decision?.edited === true || inputJson !== modelInput };
}

function decideDispatchedCall(
  facts: CallFacts,
  tool: RegisteredTool | undefined,
): ToolCallDecision | Promise<ToolCallDecision> {
  const { decision, dispatches } = facts;
  const isCurrent = decision !== undefined && decision.kind !== 'tool' && decision.dispatches === dispatches;
  const reason = isCurrent && decision.reason ? ` The reason: ${decision.reason}` : '';
  if (isCurrent && decision.kind === 'authorization') {
    const refusal = authorizationRefusal(decision);
    if (refusal !== undefined) return answered(facts, refusal, true);
  }
  // The tool itself is told how a person has answered.
  switch (isCurrent ? (decision.kind === 'input' ? 'retry' : decision.decision) : undefined) {
    case 'retry':
      return tool
        ? runApproved(facts, tool)
        : rejected(`There is no tool ${facts.call.name}. ${EFFECT_UNKNOWN}`);
    case 'mark_done':
      return answered(
        facts,
        `A person reports that this call succeeded. The output of the tool is unknown.${reason}`,
        false,
      );
    case 'mark_failed':
      return answered(facts, `A person reports that this call failed.${reason}`, true);
    case 'expired':
      return answered(facts, `${CUT_OFF} The request to run it again expired.`, true);
  }
  if (!tool || (tool.kind.effect === 'once' && tool.outcomeUnknown === 'tell')) {
    return answered(facts, CUT_OFF, true);
  }
  return tool.kind.effect === 'once' ? ask('outcome_unknown', facts, tool) : runApproved(facts, tool);
}

const CUT_OFF = `The tool was cut off while it ran. ${EFFECT_UNKNOWN}`;

/** Runs the tool, or asks the client, with exactly the bytes that were approved. */
async function runApproved(facts: CallFacts, tool: AnyTool): Promise<ToolCallDecision> {
  const { call, decision, inputJson, isEdited, dispatches, answer } = facts;
  if (decision && !isApprovedInput(facts)) {
    return rejected('The approved input differs from the input of this call, so the tool was not run.');
  }
  const input: Record<string, unknown> = JSON.parse(inputJson);
  const problem = await tool.inputProblem(input);
  if (problem !== undefined) return answered(facts, invalidInput(problem), true);
  if (isClientTool(tool)) return ask(tool.callKind, facts, tool);
  const run: ToolRun = { call, tool, input, inputJson, attempt: dispatches + 1, answer: inputAnswer(answer) };
  return { kind: 'run', run: isEdited ? { ...run, editedInput: input } : run };
}

function isApprovedInput({ decision, inputJson, isEdited }: CallFacts): boolean {
  // An authorization is not an approval of the input, which is that of the approval before it, or of the model.
  if (!decision || decision.inputJson === '')
    return decision === undefined || decision.kind === 'authorization';
  // An approval without an edit covers only the input of the model.
  if (decision.kind === 'tool' && !decision.edited && isEdited) return false;
  return createHash('sha256').update(inputJson).digest('hex') === decision.inputSha256;
}

function ask(
  kind: 'tool' | 'outcome_unknown' | ClientTool['callKind'],
  { call, inputJson, isEdited }: CallFacts,
  tool: AnyTool,
): ToolCallDecision {
  const edited = isEdited ? true : undefined;
  return {
    kind: 'ask',
    tool,
    ask: { kind, toolUseId: call.toolUseId, toolName: call.name, inputJson, edited },
  };
}

function rejected(output: string): ToolCallDecision {
  return { kind: 'answer', result: { output, isError: true } };
}

function answered({ isEdited, inputJson }: CallFacts, output: string, isError: boolean): ToolCallDecision {
  const result = { output, isError };
  return { kind: 'answer', result: isEdited ? { ...result, editedInput: JSON.parse(inputJson) } : result };
}

function invalidInput(problem: string): string {
  return `The input was refused and the tool was not run: ${problem}`;
}
