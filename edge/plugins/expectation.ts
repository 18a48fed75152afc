import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Requests whose senders wait to be asked for the body, and the answers through which they are asked. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Lets those who sent `Expect: 100-continue` wait until somebody wants their body: who is refused before that need not
 * send it. Any other expectation is ignored; the answer Node would give is not one of ours.
 */
export function watchExpectations(server: Server): void {
  server.on('checkContinue', (request, response) => {
    waiting.set(request, response);
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** Whether a sender keeps its body until it is asked for it. */
export const awaitsInvitation = (request: IncomingMessage): boolean => waiting.has(request);

/** Asks for the body, where its sender waits for that. */
export function invite(request: IncomingMessage): void {
  const response = waiting.get(request);
  waiting.delete(request);
  if (response && !response.headersSent && !response.destroyed) response.writeContinue();
}
