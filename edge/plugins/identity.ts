import type { FastifyReply } from 'fastify';
import { refuse } from '../../lib/errors.ts';
import type { Caller } from '../../lib/grpc/contract.ts';
import type { Trace } from '../../lib/trace.ts';
import type { Clients } from '../clients.ts';
import { presenceOf } from './presence.ts';

/** Asks auth who sends a request; all calls made for the request are then made for that user. */
export async function identify(clients: Clients, reply: FastifyReply, trace: Trace) {
  const signal = presenceOf(reply);
  const { user } = await clients.auth.identify({}, { signal, trace });
  if (!user) throw refuse('UNAUTHENTICATED', 'nobody is known to have sent this request');
  const caller: Caller = { userId: user.userId, roles: user.roles };
  return { caller, signal, trace };
}
