import type { FastifyRequest } from 'fastify';
import type { Refusal } from '../../lib/errors.ts';
import { errorText } from '../errors.ts';
import { refusalText } from './mcp/json-rpc.ts';

/** The body of an error response, in the shape of the protocol that the route speaks. */
export function errorBody(request: FastifyRequest, refusal: Refusal): string {
  const protocol = request.routeOptions?.config.protocol;
  return protocol === 'mcp' ? refusalText(refusal, request.id) : errorText(refusal, request.id);
}
