import type { FastifyReply } from 'fastify';
import { letPass } from '../../lib/garbage.ts';
import { Outflow, type ResponseHeaders } from '../streaming/outflow.ts';

/** A piece of what is delivered. */
interface Piece {
  bytes: Buffer;
}

/** An answer that is its head alone. What it says of a length is that of the content it does not have. */
export function answerBare(reply: FastifyReply, status: number, headers: ResponseHeaders): void {
  reply.hijack();
  const all: ResponseHeaders = { ...reply.getHeaders(), ...headers };
  reply.raw.writeHead(status, all).end();
}

/**
 * Answers with bytes that come from a service, as fast as the client reads them. What goes wrong before the first of
 * them is thrown, and can still be said with a status; after that the connection is cut, so that nobody takes what came
 * for the whole.
 */
export async function deliver(
  reply: FastifyReply,
  status: number,
  headers: ResponseHeaders,
  source: AsyncIterable<Piece>,
  stallMs: number,
): Promise<void> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    const first = await pieces.next();
    if (reply.request.method === 'HEAD') return answerBare(reply, status, headers);
    reply.hijack();
    const all = { ...reply.getHeaders(), ...headers };
    const out: Outflow = new Outflow(reply.raw, all, stallMs, { drain: () => out.cut() }, status);
    await copy(pieces, first, out);
  } finally {
    await pieces.return?.();
  }
}

async function copy(pieces: AsyncIterator<Piece>, first: IteratorResult<Piece>, out: Outflow): Promise<void> {
  try {
    for (let next = first; !next.done && out.open; next = await pieces.next()) {
      out.write(next.value.bytes);
      await out.flushed();
      letPass(next.value.bytes.length);
    }
    out.end();
  } catch {
    out.cut();
  }
}
