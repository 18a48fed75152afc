import type { FastifyRequest } from 'fastify';
import type { Caller, CallOptions } from '../../../lib/grpc/contract.ts';
import type { RouteContext } from '../../route.ts';

/** A call on behalf of the user who sent the request. */
export interface CallerCall extends CallOptions {
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
  requestId: FastifyRequest['id'];
  outcome: OperationOutcome;
}

/** What the metrics and the span tell about the operation. */
export interface OperationOutcome {
  /** The error code of its result. Undefined: it succeeded. */
  errorCode: string | undefined;
  /** The error behind the code INTERNAL. */
  cause: unknown;
}
