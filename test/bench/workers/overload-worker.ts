/**
 * Worker process: sends one prepared request at fixed rates, whether or not the earlier ones have been answered. A request
 * without an idle keep-alive connection opens one.
 */
import { connect, type Socket } from 'node:net';
import { percentile } from '../bench.ts';
import { isComplete } from '../clients/http-response.ts';
import { runWorker } from './worker.ts';

export interface OverloadPhase {
  perSecond: number;
  durationMs: number;
}

export interface OverloadJob {
  port: number;
  /** The complete HTTP request. */
  request: string;
  phases: OverloadPhase[];
  maxConnections: number;
}

export interface PhaseFigures {
  /** Requests that were due in this phase. */
  offered: number;
  /** Responses in this phase with status 200 and 503. */
  accepted: number;
  refused: number;
  /** Requests of this phase that were not sent, because all connections waited for a response. */
  unsent: number;
  perSecond: number;
  /** Of the accepted requests. */
  p50Ms: number;
  p99Ms: number;
  /** From the start of the phase to its last refusal, in milliseconds; 0 without one. */
  lastRefusalMs: number;
}

export interface OverloadFigures {
  phases: PhaseFigures[];
  /** All responses with status 200, including those after the last phase. */
  accepted: number;
  connections: number;
}

const TICK_MS = 2;
const RESPONSE_BYTES = 4 * 1_024;
const DRAIN_MS = 15_000;
const [ACCEPTED, REFUSED] = ['200', '503'].map((status) => Buffer.from(`HTTP/1.1 ${status} `));

interface Connection {
  socket: Socket;
  response: Buffer;
  filled: number;
  sentAt: number;
}

class Sender {
  accepted = 0;
  /** Called with the response to each request. */
  onResponse: (isAccepted: boolean, durationMs: number) => void = () => {};
  failure: Error | undefined;
  connections = 0;
  waiting = 0;
  readonly #job: OverloadJob;
  readonly #request: Buffer;
  readonly #idle: Connection[] = [];

  constructor(job: OverloadJob) {
    this.#job = job;
    this.#request = Buffer.from(job.request);
  }

  /** Returns false when all connections wait for a response. */
  send(): boolean {
    const connection = this.#idle.pop();
    if (!connection && this.connections >= this.#job.maxConnections) return false;
    this.waiting++;
    this.#write(connection ?? this.#open());
    return true;
  }

  close(): void {
    for (const { socket } of this.#idle) socket.destroy();
  }

  #write(connection: Connection): void {
    connection.sentAt = performance.now();
    connection.socket.write(this.#request);
  }

  #open(): Connection {
    this.connections++;
    const socket = connect({ port: this.#job.port, host: '127.0.0.1', noDelay: true });
    const connection = { socket, response: Buffer.allocUnsafe(RESPONSE_BYTES), filled: 0, sentAt: 0 };
    socket.on('data', (chunk: Buffer) => this.#receive(connection, chunk));
    socket.on('error', (error) => {
      this.failure = error;
    });
    return connection;
  }

  #receive(connection: Connection, chunk: Buffer): void {
    connection.response.set(chunk, connection.filled);
    connection.filled += chunk.length;
    if (!isComplete(connection.response, connection.filled)) return;
    const isAccepted = startsWith(connection.response, ACCEPTED);
    if (!isAccepted && !startsWith(connection.response, REFUSED))
      this.failure = new Error(`unexpected: ${connection.response.toString('utf8', 0, connection.filled)}`);
    if (isAccepted) this.accepted++;
    this.onResponse(isAccepted, performance.now() - connection.sentAt);
    connection.filled = 0;
    this.waiting--;
    this.#idle.push(connection);
  }
}

const startsWith = (response: Buffer, prefix: Buffer | undefined): boolean =>
  prefix !== undefined && response.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;

runWorker(async (job: OverloadJob, ready): Promise<OverloadFigures> => {
  const sender = new Sender(job);
  const phases: PhaseFigures[] = [];
  for (const [index, phase] of job.phases.entries()) {
    // The first phase is the warm-up.
    if (index === 1) ready();
    phases.push(await runPhase(sender, phase));
  }
  const until = performance.now() + DRAIN_MS;
  while (sender.waiting > 0) {
    if (performance.now() > until) throw new Error(`${sender.waiting} requests have no response`);
    await tick();
  }
  sender.close();
  if (sender.failure) throw sender.failure;
  return { phases, accepted: sender.accepted, connections: sender.connections };
});

async function runPhase(sender: Sender, { perSecond, durationMs }: OverloadPhase): Promise<PhaseFigures> {
  const startedAt = performance.now();
  const latencies: number[] = [];
  let [offered, refused, unsent, lastRefusalMs] = [0, 0, 0, 0];
  sender.onResponse = (isAccepted, latencyMs) => {
    if (isAccepted) {
      latencies.push(latencyMs);
      return;
    }
    refused++;
    lastRefusalMs = performance.now() - startedAt;
  };
  for (;;) {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs >= durationMs) break;
    if (sender.failure) throw sender.failure;
    for (const due = (elapsedMs / 1_000) * perSecond; offered < due; offered++) if (!sender.send()) unsent++;
    await tick();
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const spread = { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
  const counts = { offered, accepted: latencies.length, refused, unsent, lastRefusalMs };
  return { ...counts, perSecond: latencies.length / seconds, ...spread };
}

const tick = () => new Promise((resolve) => setTimeout(resolve, TICK_MS));
