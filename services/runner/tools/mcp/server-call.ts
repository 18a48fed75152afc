import { McpError } from '../../../../lib/mcp/open.ts';
import type { ToolEffect } from '../../../../lib/tools.ts';
import type { McpServerRuntime } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import type { Lending, LentCredential, LentCredentials } from '../../credentials/lent-credentials.ts';
import {
  type AuthorizationDetails,
  AuthorizationNeeded,
  OutcomeUnknown,
  type PendingToolCall,
  type Preparation,
} from '../../tool-calls/tool-call.ts';
import { ToolError } from '../../tool-calls/tool-error.ts';
import { effectNote } from '../run-tool.ts';
import type { CalledServer } from '../tool.ts';
import type { ServerDirectory } from './server-directory.ts';

interface ServerCallContext {
  directory: ServerDirectory;
  credentials: LentCredentials;
}

/** What a tool calls at a server. */
export interface ServerCall {
  server: CalledServer;
  effect: ToolEffect;
  /** Why an available server may not be called now; undefined if it may. */
  refusal(current: McpServerRuntime): string | undefined;
}

type Turn = PendingToolCall['turn'];

const UNAUTHORIZED = 401;
/** Failures after which it is unknown whether the server has received the call. */
const UNKNOWN_EFFECT = new Set(['unreachable', 'timed_out', 'invalid_response', 'too_large']);

/** Checks whether a call may be sent, and has its credential. */
export async function prepareServerCall(
  call: ServerCall,
  turn: Turn,
  { directory, credentials }: ServerCallContext,
): Promise<Preparation> {
  const { server } = call;
  const current = await currentServer(directory, call, turn);
  if (typeof current === 'string') return { kind: 'refused', output: current };
  if (!needsCredential(current)) return { kind: 'ready' };
  const lending = await credentials.lend(turn, server.mcp_server_id);
  if (lending.kind === 'lent') return { kind: 'ready' };
  return { kind: 'authorization_needed', details: authorization(server, lending) };
}

/**
 * Sends a call with the credential that the turn has now. A call whose credential was refused is sent once more with a newer
 * one, and a call that did not reach the server is sent once more. Returns the result of `send`, an AuthorizationNeeded or an
 * OutcomeUnknown. Throws a ToolError for other failures of the server.
 */
export async function runServerCall(
  call: ServerCall,
  turn: Turn,
  { directory, credentials }: ServerCallContext,
  send: (current: McpServerRuntime, credential: LentCredential | undefined) => Promise<unknown>,
): Promise<unknown> {
  const { server, effect } = call;
  const { mcp_server_id: mcpServerId, name } = server;
  // It can have changed since the preparation.
  const current = await currentServer(directory, call, turn);
  if (typeof current === 'string') throw new ToolError(current);
  let lending: Lending | undefined;
  if (needsCredential(current)) lending = await credentials.lend(turn, mcpServerId);
  let refusals = 0;
  let failures = 0;
  for (;;) {
    if (lending?.kind === 'missing') return new AuthorizationNeeded(authorization(server, lending));
    try {
      return await send(current, lending?.lent);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      // A refused request has no effect.
      if (lending && (error.httpStatus === UNAUTHORIZED || error.needsScopes)) {
        lending = await credentials.refused(turn, mcpServerId, lending.lent, error);
        if (lending.kind === 'missing' || refusals++ === 0) continue;
        credentials.drop(turn, mcpServerId);
        return new AuthorizationNeeded({ ...server, reason: 'refused', who: 'administrator' });
      }
      const isUnknown = UNKNOWN_EFFECT.has(error.problem) && !error.nothingSent;
      if (isUnknown && effect === 'once') return new OutcomeUnknown(error);
      if (error.problem === 'unreachable' && failures++ === 0) continue;
      const note = isUnknown ? effectNote(effect) : '';
      throw new ToolError(`The MCP server ${name} failed: ${error.message}${note}`);
    }
  }
}

/** The server as it is now. A text says why it may not be called; a change counts from the next call on. */
async function currentServer(
  directory: ServerDirectory,
  { server, refusal }: ServerCall,
  { trace }: Turn,
): Promise<McpServerRuntime | string> {
  const [current] = await directory.servers([server.mcp_server_id], { trace });
  if (!current?.enabled) return `The MCP server ${server.name} is not available.`;
  return refusal(current) ?? current;
}

const needsCredential = ({ authorization }: McpServerRuntime) => authorization !== 'none';

function authorization(
  server: CalledServer,
  { missing }: Lending & { kind: 'missing' },
): AuthorizationDetails {
  const { reason, who, scopes } = missing;
  const details = { ...server, reason, who: who === 'you' ? 'you' : 'administrator' } as const;
  return scopes.length === 0 ? details : { ...details, scopes };
}
