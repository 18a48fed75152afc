import type { Clock } from '../../../../lib/clock.ts';
import type { EventReceiver } from '../product.ts';
import { ProductError } from '../product-error.ts';
import type { Envelope, SlackSocket } from './socket.ts';

/** A connection that lived shorter is not replaced at once, so that the worker waits before the next one. */
const STABLE_MS = 10_000;
const MAX_BATCH = 50;

interface SocketModeOptions {
  clock: Clock;
  receiver: EventReceiver;
  open(onEnvelope: (envelope: Envelope) => void, signal: AbortSignal): Promise<SlackSocket>;
}

/**
 * Receives events until the signal aborts or the connection is lost. Slack replaces connections about every hour: the next
 * one is open before the old one is closed, because clicks and commands are not repeated.
 */
export async function receiveEvents(
  { clock, receiver, open }: SocketModeOptions,
  signal: AbortSignal,
): Promise<void> {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const inbox = new EnvelopeInbox(receiver, (error) => failed.reject(error));
  const onAbort = () => failed.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const add = (envelope: Envelope) => inbox.add(envelope);
  const sockets = new Set<SlackSocket>();
  try {
    let socket = await open(add, signal);
    sockets.add(socket);
    receiver.connected();
    for (;;) {
      const openedAt = clock.now().getTime();
      const end = await Promise.race([socket.ended, failed.promise]);
      if (end === 'disabled')
        throw new ProductError('unauthorized', 'Socket Mode is turned off. Turn it on in the app settings.');
      if (end === 'lost' && clock.now().getTime() - openedAt < STABLE_MS) return;
      const next = await open(add, signal);
      sockets.add(next);
      const old = socket;
      socket = next;
      sockets.delete(old);
      await old.close();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    inbox.end();
    await Promise.all([...sockets].map((one) => one.close()));
  }
}

/** Commits envelopes in the order of their arrival, all that have arrived together, and acknowledges them afterwards. */
class EnvelopeInbox {
  readonly #receiver: EventReceiver;
  readonly #onError: (error: unknown) => void;
  #waiting: Envelope[] = [];
  #isRunning = false;
  #isEnded = false;

  constructor(receiver: EventReceiver, onError: (error: unknown) => void) {
    this.#receiver = receiver;
    this.#onError = onError;
  }

  add(envelope: Envelope): void {
    if (this.#isEnded) return;
    this.#waiting.push(envelope);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#run().catch((error: unknown) => {
      this.end();
      this.#onError(error);
    });
  }

  /** Events that are not committed come again. */
  end(): void {
    this.#isEnded = true;
    this.#waiting = [];
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      await this.#receiver.accept(batch.map(({ json }) => json));
      for (const envelope of batch) envelope.acknowledge();
    }
    this.#isRunning = false;
  }
}
