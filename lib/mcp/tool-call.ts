import type { CatalogueTool, JsonObject } from '../mcp-catalogue/catalogue.ts';

export interface ToolCall {
  /** The tool as the server names it, with its schema. */
  tool: Pick<CatalogueTool, 'name' | 'input_schema'>;
  input: JsonObject;
  /** What the server needs to continue a call for which it required input. */
  resumed?: ResumedCall | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: ToolProgress) => void) | undefined;
}

export interface ToolProgress {
  progress: number;
  total: number | undefined;
  /** Text of the server. */
  message: string;
}

export interface ResumedCall {
  /** Results of the requests by the keys of the server. */
  inputResponses: Readonly<Record<string, JsonObject>>;
  /** Undefined: the server gave none. */
  requestState: string | undefined;
}

/** The result of a tool, unchecked. */
export interface ToolCallResult {
  isError: boolean;
  content: readonly JsonObject[];
  /** Absent: none. */
  structuredContent?: unknown;
  /** Present for a call that the server continues when it gets input. */
  inputRequired?: InputRequired | undefined;
}

export interface InputRequired {
  /** Requests such as `elicitation/create`, by keys of the server. */
  requests: Readonly<Record<string, JsonObject>>;
  requestState: string | undefined;
}
