import type { Trace } from '../../../lib/trace.ts';
import type { PinnedSkill } from '../../../proto/gen/ahs/agents/v1/agents.ts';
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
  /** The skills that the turn offers. Absent: none. */
  skills?: readonly PinnedSkill[] | undefined;
  /** The trace of this call. */
  trace: Trace;
}

/** A call that is not yet sent to its tool. */
export interface PendingToolCall {
  /** Unique within its turn. */
  toolUseId: string;
  turn: CallingTurn;
  /** Aborts when the output is no longer needed. */
  signal: AbortSignal;
}

/** What a tool receives beside its input. */
export interface ToolCallContext extends PendingToolCall {
  /** 1 for the first time this call is sent to the tool. */
  attempt: number;
  /** The answer of a person to the InputNeeded of this call. Absent for a call that asked for none. */
  answer?: InputAnswer | undefined;
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
  /** The name of the MCP server whose text the output is. */
  mcpServer?: string | undefined;
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

/** Whether a call can be sent to its tool. */
export type Preparation =
  | { kind: 'ready' }
  /** The turn stops until a person has provided a credential. */
  | { kind: 'authorization_needed'; details: AuthorizationDetails }
  /** `output` is the error result for the model. */
  | { kind: 'refused'; output: string };

/** The credential that a call lacks, as an approval of kind `authorization` shows it. */
export interface AuthorizationDetails {
  /** mcp_… */
  mcp_server_id: string;
  /** The name of the server. */
  name: string;
  host: string;
  /** A reason of ahs.vaults.v1.MissingCredential, or `unavailable`. */
  reason: string;
  /** Who can provide the credential. */
  who: 'you' | 'administrator';
  /** The scopes that the server demands. Only for the reason `scope`. */
  scopes?: readonly string[];
}

/**
 * The return value of a tool whose server refused the credential before the call took effect. The turn stops with an
 * approval of kind `authorization`. After the decision `retry`, the tool is prepared and run again, as the same call.
 */
export class AuthorizationNeeded {
  readonly details: AuthorizationDetails;

  constructor(details: AuthorizationDetails) {
    this.details = details;
  }
}

/**
 * The return value of a tool of effect `once` whose call was sent and has no result. It continues as a call that was cut
 * off by a crash.
 */
export class OutcomeUnknown {
  /** For the log. */
  readonly cause: Error;

  constructor(cause: Error) {
    this.cause = cause;
  }
}

/**
 * The return value of a tool that cannot end its call before a person has given input. The turn stops with an approval of
 * kind `input`. Afterwards the tool is run again with the answer, as the same call.
 */
export class InputNeeded {
  readonly details: InputDetails;
  /** What the tool needs to continue, at most 64 KiB. It is stored sealed and never shown. */
  readonly state: Uint8Array;

  constructor(details: InputDetails, state: Uint8Array) {
    this.details = details;
    this.state = state;
  }
}

/** The form or link of an approval of kind `input`, at most 64 KiB as JSON text. A form is one that `ask_user` accepts. */
export type InputDetails = {
  /** mcp_… */
  mcp_server_id: string;
  /** The name of the server. */
  name: string;
  /** Text of the server. */
  message: string;
} & ({ form: Readonly<Record<string, unknown>> } | { url: string });

export interface InputAnswer {
  /** `expired`: there was no answer in time. */
  decision: 'accept' | 'decline' | 'cancel' | 'expired';
  /** The content of an accepted form, valid for its schema. */
  content?: Readonly<Record<string, unknown>> | undefined;
  state: Uint8Array;
}
