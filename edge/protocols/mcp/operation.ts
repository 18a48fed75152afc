import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../../lib/error-codes.ts';
import type { Caller, CallOptions } from '../../../lib/grpc/contract.ts';
import type { Agent } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { publicError, toRefusal } from '../../errors.ts';
import type { RouteContext } from '../../route.ts';
import type { ClientCapabilities } from './client-capabilities.ts';

/** A call on behalf of the user who sent the request. */
interface CallerCall extends CallOptions {
  caller: Caller;
}

/** One request of a client, for the tools and resources that it uses. */
export interface McpOperation {
  context: RouteContext;
  call: CallerCall;
  /** The scopes of the credential. */
  scopes: readonly string[];
  /** The only agent that this endpoint offers. Undefined: all that the caller may use. */
  agentId: string | undefined;
  /** That agent as it was at the beginning of the request. Undefined for subscriptions, which outlive it. */
  agent?: Agent;
  requestId: FastifyRequest['id'];
  client: ClientCapabilities;
  outcome: OperationOutcome;
}

/** What the metrics and the span tell about the operation. */
interface OperationOutcome {
  /** The error code of its result. Undefined: it succeeded. */
  errorCode: ErrorCode | undefined;
  /** The error behind the code INTERNAL. */
  cause: unknown;
}

/** Notes that the operation has failed, and returns what the client may know about the error. */
export function noteFailure({ outcome, requestId }: McpOperation, error: unknown) {
  const refusal = toRefusal(error);
  outcome.errorCode = refusal.code;
  outcome.cause = refusal.cause ?? error;
  return { ...publicError(refusal), request_id: requestId };
}
