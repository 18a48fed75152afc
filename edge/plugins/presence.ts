import type { FastifyReply } from 'fastify';

/** Aborts when the client leaves before it has its answer, so that nobody works for somebody who has gone. */
export function presenceOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
