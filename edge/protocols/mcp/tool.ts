import type {
  CallToolResult,
  ContentBlock,
  InputRequiredResult,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { Static, TObject } from 'typebox';
import type { FieldProblem } from '../../../lib/errors.ts';
import { createInspector } from '../../input/schema.ts';
import type { McpOperation } from './operation.ts';
import type { ProgressReporter } from './progress.ts';

/** The result of a tool: an object that matches its output schema, and content besides its text. */
export interface ToolResult {
  structured: Record<string, unknown>;
  content?: ContentBlock[];
}

/** A result of the protocol that comes before that of the tool: a task, or requests to the client. */
export interface DeferredResult {
  deferred: CallToolResult | InputRequiredResult;
}

interface DeclaredTool<Input extends TObject> {
  name: string;
  title: string;
  /** A prompt for models: what the tool does and when to use it. */
  description: string;
  annotations: ToolAnnotations;
  input: Input;
  output: TObject;
  /** The scope that the tool needs beside `mcp`. */
  requires?: 'approve';
  /** It waits for a turn, so a client can repeat its call with answers to requests. */
  waits?: true;
  call(
    args: Static<Input>,
    operation: McpOperation,
    progress: ProgressReporter | undefined,
  ): Promise<ToolResult | DeferredResult>;
}

/** A tool that clients call. */
export interface Tool extends Omit<DeclaredTool<TObject>, 'input' | 'output' | 'call'> {
  /** The definition in `tools/list`. */
  definition: {
    name: string;
    title: string;
    description: string;
    inputSchema: { type: 'object' };
    outputSchema?: { type: 'object' };
    annotations: ToolAnnotations;
  };
  inspectInput(value: unknown): FieldProblem[];
  inspectOutput(value: unknown): FieldProblem[];
  call(
    args: unknown,
    operation: McpOperation,
    progress: ProgressReporter | undefined,
  ): Promise<ToolResult | DeferredResult>;
}

/** Declares a tool. Arguments are validated before `call`, and results after it. */
export function tool<Input extends TObject>(declared: DeclaredTool<Input>): Tool {
  const { name, title, description, annotations, input, output } = declared;
  return {
    ...declared,
    definition: {
      ...{ name, title, description, annotations },
      inputSchema: input,
      outputSchema: output,
    },
    inspectInput: createInspector(input),
    inspectOutput: createInspector(output),
    call: (args, operation, progress) => declared.call(args as Static<Input>, operation, progress),
  };
}

/** The result as the protocol has it. */
export function callToolResult({ structured, content = [] }: ToolResult): CallToolResult {
  return {
    // Also as text, for clients that do not read structured results.
    content: [{ type: 'text', text: JSON.stringify(structured) }, ...content],
    structuredContent: structured,
  };
}

export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
/** An agent works with its own tools, which may reach other systems. */
export const WORKS: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: true };
