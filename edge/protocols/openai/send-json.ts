import type { FastifyReply } from 'fastify';

export function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(body));
}
