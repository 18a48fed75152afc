import type { JSONValue } from '@ai-sdk/provider';
import type { ModelMessage, ToolResultPart } from 'ai';
import { type AnswerPart, toolParts } from '../parts/reference.ts';
import type { ToolOutputFacts } from '../tool-calls/tool-call.ts';
import { isClientTool } from '../tools/client-tool.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { CheckedOutput } from './structured-output.ts';

/** A tool call as the model requested it. */
export interface ToolCall {
  toolUseId: string;
  name: string;
  input: unknown;
}

/** The result of a tool call as the model receives it. */
export interface ToolCallResult extends ToolOutputFacts {
  output: JSONValue;
  isError: boolean;
  /** The input the tool was called with, when a person changed it. */
  editedInput?: unknown;
}

/** A journaled model step: its tool calls and the results so far, by tool use id. */
export interface ModelStep {
  finishReason: string;
  calls: ToolCall[];
  results: Map<string, ToolCallResult>;
  /** Undefined when the step is no answer, and without an output schema. */
  checked: CheckedOutput | undefined;
}

const NO_CALLS: ToolCall[] = [];

export function modelStepOf(
  content: readonly AnswerPart[],
  finishReason: string,
  checked: CheckedOutput | undefined,
): ModelStep {
  return { finishReason, calls: toolCallsIn(content), results: new Map(), checked };
}

export function toolCallsIn(content: readonly AnswerPart[]): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const part of content) {
    if (part.type !== 'tool-call') continue;
    calls.push({ toolUseId: part.toolCallId, name: part.toolName, input: part.input });
  }
  return calls.length === 0 ? NO_CALLS : calls;
}

/** The calls without a result. */
export function openCalls({ calls, results }: ModelStep): ToolCall[] {
  return calls.filter(({ toolUseId }) => !results.has(toolUseId));
}

/** The data of the call's `agent.tool_use` event. */
export function toolUseEvent({ toolUseId, name, input }: ToolCall, toolbox: Toolbox) {
  const permission = toolbox.permissionOf(name);
  const tool = toolbox.find(name);
  const kind = tool && isClientTool(tool) && permission !== 'deny' ? tool.callKind : undefined;
  return { tool_use_id: toolUseId, name, input, evaluated_permission: permission, kind };
}

/** One message with the results of all calls, in call order: providers reject a call that has no result. */
export function toolResultsMessage({ calls, results }: ModelStep): ModelMessage {
  const content = calls.map(({ toolUseId, name }): ToolResultPart => {
    const result = results.get(toolUseId) ?? NOT_RUN;
    return { type: 'tool-result', toolCallId: toolUseId, toolName: name, output: toolResultOutput(result) };
  });
  return { role: 'tool', content };
}

const NOT_RUN: ToolCallResult = { output: 'The turn ended before this tool was run.', isError: true };

function toolResultOutput({ output, isError, editedInput }: ToolCallResult): ToolResultPart['output'] {
  const note = editedInput === undefined ? '' : editNote(editedInput);
  const parts = toolParts(output);
  if (parts)
    return { type: 'content', value: note === '' ? parts : [{ type: 'text', text: note }, ...parts] };
  if (typeof output === 'string' || note !== '') {
    const text = typeof output === 'string' ? output : JSON.stringify(output);
    return { type: isError ? 'error-text' : 'text', value: note + text };
  }
  return { type: isError ? 'error-json' : 'json', value: output };
}

function editNote(input: unknown): string {
  return `A person has changed the input of this call. It was called with ${JSON.stringify(input)}\n\n`;
}
