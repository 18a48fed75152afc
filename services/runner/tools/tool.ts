import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { type Static, type TObject, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ToolKind } from '../../../lib/tools.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

/** The turn that a call is a part of. */
export interface CallingTurn {
  /** What it does for the turn, it does under this lease. */
  lease: Lease;
  /** agt_… or ast_… */
  agentId: string;
  /** usr_… */
  ownerId: string;
  /** Empty for the default one. */
  environmentId: string;
  /** Of this call. */
  trace: Trace;
}

/** What a tool is told beside its input. */
export interface ToolCall {
  /** Unique within its turn. */
  toolUseId: string;
  /** 1 for the first time this call is sent to the tool. */
  attempt: number;
  turn: CallingTurn;
  /** Aborts when nobody waits for the output any more. */
  signal: AbortSignal;
  /** Shows people what is going on, in pieces of text. The model sees only the output. */
  progress(text: string): void;
}

/** What a tool returns when there is more to say of a call than what it gave. */
export class Answer {
  /** Text or a JSON value. */
  readonly output: unknown;
  readonly facts: AnswerFacts;

  constructor(output: unknown, facts: AnswerFacts) {
    this.output = output;
    this.facts = facts;
  }
}

export interface AnswerFacts {
  isError?: boolean;
  /** The version of the workspace that it left behind, where it may have changed it. */
  workspaceVersion?: number | undefined;
}

/** Something an agent can have done. */
export interface Tool<Input extends TObject = TObject> {
  name: string;
  kind: ToolKind;
  /**
   * What follows when a call of effect `once` may have had its effect, and nobody knows: `ask` somebody before it
   * is sent again (when absent), or `tell` the model that its outcome is unknown.
   */
  outcomeUnknown?: 'ask' | 'tell';
  /** Calls of one step that use the workspace take turns where one of them may change it. */
  usesWorkspace?: boolean;
  /** It ends by itself in good time, by a limit of its own: that of the runner does not hold for it. */
  endsItself?: boolean;
  /** The shape of its input; nothing else ever reaches `run`. */
  input: Input;
  /**
   * Returns text or a JSON value, or an Answer. What it throws is told to the model as an error, in the words of its
   * message; with LEASE_LOST the turn is lost.
   */
  run(input: Static<Input>, call: ToolCall): unknown;
}

export interface KnownTool extends Tool {
  /** What a model is told of it. */
  definition: LanguageModelV4FunctionTool;
  /** What is wrong with an input, in words for the model; undefined when it will do. */
  problem(input: unknown): string | undefined;
}

/** All tools of a runner, by name. */
export type Tools = ReadonlyMap<string, KnownTool>;

export function createTools(...tools: readonly Tool[]): Tools {
  return new Map(tools.map((tool) => [tool.name, known(tool)]));
}

function known(tool: Tool): KnownTool {
  const { name, kind, input } = tool;
  return {
    ...tool,
    run: (value, call) => tool.run(value, call),
    definition: {
      type: 'function',
      name,
      description: kind.about,
      // As JSON: a schema of the library also has members that only the library reads.
      inputSchema: JSON.parse(JSON.stringify(input)),
    },
    problem: createCheck(input),
  };
}

/** No model mends more at a time. */
const SHOWN = 5;

function createCheck(schema: TObject): KnownTool['problem'] {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(Type.Unsafe(schema));
    if (compiled.Check(value)) return undefined;
    const problems = compiled.Errors(value).flatMap(({ keyword, instancePath, message }) => {
      // An unknown member is named by an error of its own.
      if (keyword === 'additionalProperties') return [];
      return `${instancePath || '/'} ${keyword === 'boolean' ? 'is not a known member' : message}`;
    });
    return [...new Set(problems)].slice(0, SHOWN).join('; ');
  };
}
