import type { JSONValue } from '@ai-sdk/provider';
import type { AssistantContent, ModelMessage, ToolResultPart } from 'ai';
import type { Toolbox } from './tools/toolbox.ts';

/** A model's wish to have a tool used. */
export interface Call {
  toolUseId: string;
  name: string;
  input: unknown;
}

/** What the model is told of a call. */
export interface CallResult {
  output: JSONValue;
  isError: boolean;
  /** What it was called with, where somebody has changed that. */
  editedInput?: unknown;
  /** The version of the workspace that it left behind, where it may have changed it. */
  workspaceVersion?: number | undefined;
}

/** One model step that was kept: what it wants done, and what came of it so far, by the id of the call. */
export interface Step {
  finishReason: string;
  calls: Call[];
  results: Map<string, CallResult>;
}

const NO_CALLS: Call[] = [];

export function stepOf(content: AssistantContent, finishReason: string): Step {
  return { finishReason, calls: callsIn(content), results: new Map() };
}

export function callsIn(content: AssistantContent): Call[] {
  if (typeof content === 'string') return NO_CALLS;
  const calls: Call[] = [];
  for (const part of content) {
    if (part.type !== 'tool-call') continue;
    calls.push({ toolUseId: part.toolCallId, name: part.toolName, input: part.input });
  }
  return calls.length === 0 ? NO_CALLS : calls;
}

/** Those without a result. */
export function openCalls({ calls, results }: Step): Call[] {
  return calls.filter(({ toolUseId }) => !results.has(toolUseId));
}

/** What its agent.tool_use says. */
export function useOf({ toolUseId, name, input }: Call, toolbox: Pick<Toolbox, 'permissionOf'>) {
  return { tool_use_id: toolUseId, name, input, evaluated_permission: toolbox.permissionOf(name) };
}

/** All results of a step, in the order of its calls: a provider refuses a call that has none. */
export function resultsMessage({ calls, results }: Step): ModelMessage {
  const content = calls.map(({ toolUseId, name }): ToolResultPart => {
    const result = results.get(toolUseId) ?? NEVER_RUN;
    return { type: 'tool-result', toolCallId: toolUseId, toolName: name, output: told(result) };
  });
  return { role: 'tool', content };
}

const NEVER_RUN: CallResult = { output: 'The turn ended before this tool was run.', isError: true };

function told({ output, isError, editedInput }: CallResult): ToolResultPart['output'] {
  const note = editedInput === undefined ? '' : editNote(editedInput);
  if (typeof output === 'string' || note !== '') {
    const text = typeof output === 'string' ? output : JSON.stringify(output);
    return { type: isError ? 'error-text' : 'text', value: note + text };
  }
  return { type: isError ? 'error-json' : 'json', value: output };
}

function editNote(input: unknown): string {
  return `A person has changed the input of this call. It was called with ${JSON.stringify(input)}\n\n`;
}
