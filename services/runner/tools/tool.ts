import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { type Static, type TObject, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ToolKind } from '../../../lib/tools.ts';
import type {
  AuthorizationDetails,
  PendingToolCall,
  Preparation,
  ToolCallContext,
} from '../tool-calls/tool-call.ts';

/** An MCP server that a tool calls. */
export type CalledServer = Readonly<Pick<AuthorizationDetails, 'mcp_server_id' | 'name' | 'host'>>;

/** A tool that agents can call. */
export interface Tool<Input extends TObject = TObject> {
  name: string;
  kind: ToolKind;
  /**
   * How a call of effect `once` continues when its outcome is unknown: `ask` a person before it is repeated (the
   * default), or `tell` the model that the outcome is unknown.
   */
  outcomeUnknown?: 'ask' | 'tell';
  /** Calls of one step that use the workspace are ordered by ToolCallOrder. */
  usesWorkspace?: boolean;
  /** The tool enforces a time limit of its own, so the tool timeout of the runner does not apply. */
  hasOwnTimeout?: boolean;
  /** The schema of the input; `run` gets only valid input. */
  input: Input;
  /**
   * Checks before the dispatch is journaled whether the call can be sent. Absent: each call can be sent. Rejects with a
   * retryable Refusal when it cannot be checked now: the turn is then retried, and blocks when its retries are spent.
   */
  prepare?(call: PendingToolCall, input: Static<Input>): Promise<Preparation>;
  /** The server that `prepare` checks. The approval names it when the retries are spent. */
  server?: CalledServer;
  /** The same for a tool whose input names the server. */
  serverOf?(input: Static<Input>): CalledServer | undefined;
  /**
   * Returns text, a JSON value, a ToolOutput, an InputNeeded, an AuthorizationNeeded or an OutcomeUnknown. The model gets the message of a
   * thrown ToolError or Refusal as an error result. Other exceptions are logged, and the model gets a generic error. With
   * LEASE_LOST the turn is lost.
   */
  run(input: Static<Input>, call: ToolCallContext): unknown;
}

export interface RegisteredTool extends Omit<Tool, 'input'> {
  /** The tool definition for the model. */
  definition: LanguageModelV4FunctionTool;
  /** Describes for the model why an input is invalid; undefined for valid input. */
  inputProblem(input: unknown): string | undefined | Promise<string | undefined>;
}

/** The tools of a runner, by name. */
export type ToolRegistry = ReadonlyMap<string, RegisteredTool>;

export function createToolRegistry(...tools: readonly Tool[]): ToolRegistry {
  return new Map(tools.map((tool) => [tool.name, registered(tool)]));
}

function registered(tool: Tool): RegisteredTool {
  const { name, kind, input } = tool;
  return {
    ...tool,
    prepare: tool.prepare?.bind(tool),
    serverOf: tool.serverOf?.bind(tool),
    run: (value, call) => tool.run(value, call),
    definition: {
      type: 'function',
      name,
      description: kind.about,
      // Converted through JSON, because schemas of typebox have members that only the library reads.
      inputSchema: JSON.parse(JSON.stringify(input)),
    },
    inputProblem: createInputCheck(input),
  };
}

const MAX_SHOWN_PROBLEMS = 5;

export function createInputCheck(schema: TObject): (input: unknown) => string | undefined {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(Type.Unsafe(schema));
    if (compiled.Check(value)) return undefined;
    const problems = compiled.Errors(value).flatMap(({ keyword, instancePath, message }) => {
      // Each unknown member has an error of its own that names it.
      if (keyword === 'additionalProperties') return [];
      return `${instancePath || '/'} ${keyword === 'boolean' ? 'is not a known member' : message}`;
    });
    return [...new Set(problems)].slice(0, MAX_SHOWN_PROBLEMS).join('; ');
  };
}
