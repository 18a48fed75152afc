import type { Trace } from '../../../lib/trace.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

/** The turn that a tool call belongs to. */
export interface CallingTurn {
  /** The lease under which the tool acts for the turn. */
  lease: Lease;
  /** agt_… or ast_… */
  agentId: string;
  /** usr_… */
  ownerId: string;
  /** Empty for the default environment. */
  environmentId: string;
  /** The trace of this call. */
  trace: Trace;
}

/** What a tool receives beside its input. */
export interface ToolCallContext {
  /** Unique within its turn. */
  toolUseId: string;
  /** 1 for the first time this call is sent to the tool. */
  attempt: number;
  turn: CallingTurn;
  /** Aborts when the output is no longer needed. */
  signal: AbortSignal;
  /** Shows followers of the session a piece of text while the tool runs. The model sees only the output. */
  progress(text: string): void;
}

/** The return value of a tool that reports facts beside its output. */
export class ToolOutput {
  /** Text or a JSON value. */
  readonly output: unknown;
  readonly facts: ToolOutputFacts;

  constructor(output: unknown, facts: ToolOutputFacts) {
    this.output = output;
    this.facts = facts;
  }
}

export interface ToolOutputFacts {
  isError?: boolean;
  /** The workspace version after the call, for tools that may change the workspace. */
  workspaceVersion?: number | undefined;
  /** The exit code of a command that ended by itself. */
  exitCode?: number | undefined;
  /** The parts of the output that a command printed to stderr, in UTF-16 units, without overlap, in order. */
  stderrRanges?: readonly TextRange[] | undefined;
}

/** A part of a text, from `start` up to but not including `end`. */
export interface TextRange {
  start: number;
  end: number;
}
