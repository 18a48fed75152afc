import type { FastifyRequest } from 'fastify';
import type { Refusal } from '../../lib/errors.ts';
import type { Protocol } from '../../lib/event-types.ts';
import { errorText } from '../errors.ts';
import { a2aErrorText } from './a2a/errors.ts';
import { refusalText } from './mcp/json-rpc.ts';
import { openaiErrorText } from './openai/errors.ts';

/** The paths of each protocol, for requests that have no route: unknown paths, and methods that a path does not support. */
const PATHS: [path: RegExp, protocol: Protocol][] = [
  [/^(\/api\/v1)?\/mcp(\/|\?|$)/, 'mcp'],
  [/^\/api\/v1\/openai(\/|\?|$)/, 'openai'],
];

/** The body of an error response, in the shape of the protocol that clients of the path speak. */
export function errorBody(request: FastifyRequest, refusal: Refusal): string {
  switch (request.routeOptions?.config.protocol ?? protocolOf(request.url)) {
    case 'mcp':
      return refusalText(refusal, request.id);
    case 'openai':
      return openaiErrorText(refusal, request.id);
    case 'a2a':
      return a2aErrorText(refusal, request);
    default:
      return errorText(refusal, request.id);
  }
}

function protocolOf(url: string): Protocol | undefined {
  return PATHS.find(([path]) => path.test(url))?.[1];
}
