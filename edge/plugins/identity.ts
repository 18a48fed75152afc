import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../../lib/errors.ts';
import type { Caller } from '../../lib/grpc/contract.ts';
import type { Clients } from '../clients.ts';
import { presenceOf } from './presence.ts';

/**
 * Asks auth who sends a request; all calls made for the request are then made for that user. They are given up when
 * `signal` aborts: unless the route has its own, when the client leaves before it has its answer.
 */
export async function identify(
  clients: Clients,
  request: FastifyRequest,
  reply: FastifyReply,
  signal = presenceOf(reply),
) {
  const asked = { signal, trace: request.span.trace, requestId: request.id };
  const { user } = await clients.auth.identify({ bearer: '', login: '' }, asked);
  if (!user) throw refuse('UNAUTHENTICATED', 'nobody is known to have sent this request');
  const caller: Caller = { userId: user.userId, roles: user.roles };
  return { ...asked, caller };
}
