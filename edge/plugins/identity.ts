import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../lib/errors.ts';
import type { Caller } from '../../lib/grpc/contract.ts';
import type { Clients } from '../clients.ts';
import { presenceOf } from './presence.ts';

/** Asks auth who sends a request; all calls made for the request are then made for that user. */
export async function identify(clients: Clients, request: FastifyRequest, reply: FastifyReply) {
  const asked = { signal: presenceOf(reply), trace: request.span.trace, requestId: request.id };
  const { user } = await clients.auth.identify({}, asked);
  if (!user) throw refuse('UNAUTHENTICATED', 'nobody is known to have sent this request');
  const caller: Caller = { userId: user.userId, roles: user.roles };
  return { ...asked, caller };
}
