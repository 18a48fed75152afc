import type { ServerResponse } from 'node:http';
import { Refusal } from '../../lib/errors.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { Log } from '../../lib/log.ts';
import type { Clients } from '../clients.ts';

interface StreamedTurn {
  sessionId: string;
  turnId: string;
}

interface InterruptContext {
  clients: Pick<Clients, 'sessions'>;
  log: Log;
}

/**
 * Interrupts the turn when the client closes the connection. Returns a function that ends this, for a stream that ends in
 * another way.
 */
export function interruptOnDisconnect(
  { clients: { sessions }, log }: InterruptContext,
  response: ServerResponse,
  { sessionId, turnId }: StreamedTurn,
  { signal: _, ...call }: CallOptions,
): () => void {
  const interrupt = async () => {
    try {
      await sessions.interruptSession({ sessionId, turnId }, call);
      // A turn that waits behind others is not interrupted. It is removed from the queue.
      await sessions.cancelTurn({ sessionId, turnId }, call);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'TURN_NOT_QUEUED') return;
      log.warn({ err: error, sessionId, turnId }, 'a turn was not interrupted after its client disconnected');
    }
  };
  const listener = () => void interrupt();
  response.once('close', listener);
  return () => response.off('close', listener);
}
