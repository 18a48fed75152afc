import type { FastifyRequest } from 'fastify';
import type { Refusal } from '../../lib/errors.ts';
import { errorText } from '../errors.ts';
import { refusalText } from './mcp/json-rpc.ts';
import { openaiErrorText } from './openai/errors.ts';

/** The body of an error response, in the shape of the protocol that the route speaks. */
export function errorBody(request: FastifyRequest, refusal: Refusal): string {
  switch (request.routeOptions?.config.protocol) {
    case 'mcp':
      return refusalText(refusal, request.id);
    case 'openai':
      return openaiErrorText(refusal, request.id);
    default:
      return errorText(refusal, request.id);
  }
}
