import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Requests whose clients wait for `100 Continue` before they send the body, with their responses. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Delays `100 Continue` until a route reads the body, so that a client with `Expect: 100-continue` does not send the body
 * of a request that is refused. Other expectations are ignored: the default response of Node is not our error envelope.
 */
export function handleExpectations(server: Server): void {
  server.on('checkContinue', (request, response) => {
    waiting.set(request, response);
    server.emit('request', request, response);
  });
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** Whether the client waits for `100 Continue` before it sends the body. */
export const awaitsContinue = (request: IncomingMessage): boolean => waiting.has(request);

/** Sends `100 Continue` if the client waits for it. */
export function sendContinue(request: IncomingMessage): void {
  const response = waiting.get(request);
  waiting.delete(request);
  if (response && !response.headersSent && !response.destroyed) response.writeContinue();
}
