import type { FastifyReply } from 'fastify';

/** Clients repeat requests that fail. After the message was sent, a repeated request would start another turn. */
export function refuseRetry(reply: FastifyReply): void {
  reply.header('x-should-retry', 'false');
}
