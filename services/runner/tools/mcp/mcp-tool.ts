import type { Clock } from '../../../../lib/clock.ts';
import type { InputRequired, ToolProgress } from '../../../../lib/mcp/open.ts';
import type { JsonObject } from '../../../../lib/mcp-catalogue/catalogue.ts';
import type { McpServerRuntime } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import type { LentCredential, LentCredentials } from '../../credentials/lent-credentials.ts';
import { InputNeeded, type ToolCallContext } from '../../tool-calls/tool-call.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';
import type { FilesClient } from '../../workspace/workspace-client.ts';
import { inputRequestProblem } from '../input-request.ts';
import type { RegisteredTool } from '../tool.ts';
import type { Comparison } from './comparison.ts';
import {
  answer,
  decline,
  decodeState,
  detailsOf,
  encodeState,
  MAX_ROUNDS,
  type PendingInput,
} from './elicitation.ts';
import type { OfferedTool } from './offered-tools.ts';
import type { SchemaCheck } from './schema-check.ts';
import { prepareServerCall, runServerCall } from './server-call.ts';
import type { ServerDirectory } from './server-directory.ts';
import { storeResult } from './store-result.ts';
import type { TurnConnections } from './turn-connections.ts';

export interface McpToolContext {
  directory: ServerDirectory;
  credentials: LentCredentials;
  connections: TurnConnections;
  comparison: Comparison;
  schemas: SchemaCheck;
  /** Whether a server may ask a person to open this link. */
  isAllowedLink(url: URL): boolean;
  files: FilesClient;
  clock: Clock;
}

/** Shown progress is limited to this interval. */
const PROGRESS_INTERVAL_MS = 250;
/** Returns the tool of an MCP server as agents can call it. */
export function createMcpTool(offered: OfferedTool, context: McpToolContext): RegisteredTool {
  const { server, remote, definition, permission, effect } = offered;
  const { schemas } = context;
  const { mcpServerId, name } = server;
  const shown = { mcp_server_id: mcpServerId, name, host: new URL(server.url).host };
  const target = {
    server: shown,
    effect,
    refusal: (current: McpServerRuntime) => refusalOf(current, remote.name),
  };

  return {
    name: definition.name,
    kind: { effect, permission, about: remote.description },
    hasOwnTimeout: true,
    server: shown,
    definition,
    inputProblem: (input) => schemas.problem(remote.input_schema, input),
    prepare: ({ turn }) => prepareServerCall(target, turn, context),

    async run(input: JsonObject, call: ToolCallContext) {
      const pending = call.answer && answer(decodeState(call.answer.state), call.answer);
      const next = pending && (await askNext(pending));
      if (next instanceof InputNeeded) return next;
      return runServerCall(target, call.turn, context, (current, credential) =>
        send(current, credential, input, call, next),
      );
    },
  };

  async function send(
    current: McpServerRuntime,
    credential: LentCredential | undefined,
    input: JsonObject,
    call: ToolCallContext,
    pending: PendingInput | undefined,
  ): Promise<unknown> {
    const { signal } = call;
    const onProgress = progressTo(call, context.clock);
    const resumed = pending && { inputResponses: pending.responses, requestState: pending.requestState };
    const result = await context.connections.exchange(current, credential, call, (connection) =>
      connection.callTool({ tool: remote, input, resumed, signal, onProgress }),
    );
    if (result.inputRequired) {
      const asked = await askNext(pendingInput(result.inputRequired, pending));
      return asked instanceof InputNeeded ? asked : send(current, credential, input, call, asked);
    }
    context.comparison.startUnlessRecent(current, credential, call.turn);
    const { structuredContent } = result;
    const problem =
      structuredContent !== undefined && remote.output_schema
        ? await schemas.problem(remote.output_schema, structuredContent)
        : undefined;
    const notes = [
      ...(pending?.notes ?? []),
      ...(problem === undefined ? [] : [`[The result does not match the schema of the tool: ${problem}]`]),
    ];
    return storeResult(result, { server: name, notes }, call, context.files);
  }

  /** The requests of a server for one more round. Throws a ToolError when it has asked too often. */
  function pendingInput(
    { requests, requestState }: InputRequired,
    before: PendingInput | undefined,
  ): PendingInput {
    const { round = 0, notes = [] } = before ?? {};
    if (round === MAX_ROUNDS)
      throw new ToolError(`The MCP server ${name} asked for input more than ${MAX_ROUNDS} times.`);
    const list = Object.entries(requests).map(([key, request]) => ({ key, request }));
    return { round: round + 1, requestState, requests: list, responses: {}, notes };
  }

  /** Asks a person for the next input. Returns the requests with their responses when all have one. */
  async function askNext(pending: PendingInput): Promise<InputNeeded | PendingInput> {
    const [next] = pending.requests;
    if (!next) return pending;
    const details = detailsOf(next.request, { mcp_server_id: mcpServerId, name }, context.isAllowedLink);
    if ('declined' in details) return askNext(decline(pending, details.declined));
    const needed = new InputNeeded(details, encodeState(pending));
    const problem = await inputRequestProblem(needed);
    return problem === undefined ? needed : askNext(decline(pending, problem));
  }
}

/** Why a tool may not be called now. */
function refusalOf({ name, changedTools, rules }: McpServerRuntime, tool: string): string | undefined {
  if (changedTools.includes(tool))
    return `The tool has changed since it was reviewed, so it was not called. An administrator must review ${name}.`;
  const rule = rules.find((one) => one.name === tool);
  return rule?.offered && rule.permission !== 'deny' ? undefined : `The tool may not be used.`;
}

/** Shows the progress of a server as text, at most four times a second. */
function progressTo(call: ToolCallContext, clock: Clock): (progress: ToolProgress) => void {
  let shownAt = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    const now = clock.now().getTime();
    if (now - shownAt < PROGRESS_INTERVAL_MS) return;
    shownAt = now;
    const share = total === undefined ? `${progress}` : `${progress}/${total}`;
    call.progress(`${message === '' ? share : message}\n`);
  };
}
