import type { FastifyReply } from 'fastify';
import type { RouteResponse } from '../../envelope.ts';

/** Sets the head of a JSON response of a raw route. Returns its text. */
export function sendJson(reply: FastifyReply, status: number, { text, headers }: RouteResponse): string {
  reply
    .code(status)
    .headers(headers ?? {})
    .type('application/json; charset=utf-8');
  return text;
}
