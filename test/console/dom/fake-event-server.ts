import type { DurableEvent } from '../../../console/journal/event.ts';

const ANSWER_MS = 2;

/** Serves the events of one session: pages of the list, and the stream. */
export class FakeEventServer {
  readonly #events: DurableEvent[];
  readonly #streams = new Map<ReadableStreamDefaultController, (event: DurableEvent) => void>();
  /** Returns the status of the answer to a request for a page. */
  statusOf: (query: URLSearchParams) => number = () => 200;
  /** Called between the answer to a request for a page and its delivery. */
  afterAnswer: (query: URLSearchParams) => void = () => {};

  constructor(events: readonly DurableEvent[]) {
    this.#events = [...events];
  }

  append(type: string, data: object, turnId: string): void {
    const seq = this.#events.length + 1;
    const event = { ...this.#events[0], event_id: `evt_${seq}`, seq, type, data, turn_id: turnId };
    this.#events.push(event as DurableEvent);
    for (const send of this.#streams.values()) send(event as DurableEvent);
  }

  closeStreams(): void {
    for (const stream of this.#streams.keys()) stream.close();
    this.#streams.clear();
  }

  fetch = async (input: Request | string, init?: RequestInit): Promise<Response> => {
    const signal = init?.signal ?? undefined;
    const url = new URL(typeof input === 'string' ? input : input.url, 'http://console.test');
    if (url.pathname.endsWith('/stream'))
      return this.#stream(Number(url.searchParams.get('after_seq')), signal);
    const status = this.statusOf(url.searchParams);
    const page = this.#page(url.searchParams);
    this.afterAnswer(url.searchParams);
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
    signal?.throwIfAborted();
    return Response.json(status === 200 ? page : { code: 'INTERNAL', error: {} }, { status });
  };

  #page(query: URLSearchParams) {
    const types = query.get('types')?.split(',');
    const cursor = query.get('cursor');
    const limit = Number(query.get('limit'));
    const matching = this.#events.filter(({ type }) => !types || types.includes(type));
    const left =
      query.get('order') === 'newest_first'
        ? matching.filter(({ seq }) => cursor === null || seq < Number(cursor)).reverse()
        : matching.filter(({ seq }) => seq > Number(cursor ?? query.get('after_seq')));
    const data = left.slice(0, limit);
    const next = left.length > limit ? String(data.at(-1)?.seq) : null;
    return { data, page: { next_cursor: next } };
  }

  #stream(after: number, signal: AbortSignal | undefined): Response {
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const write = (text: string) => controller.enqueue(encoder.encode(text));
        const send = (event: DurableEvent) =>
          write(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
        for (const event of this.#events) if (event.seq > after) send(event);
        write('event: stream.caught_up\ndata: {}\n\n');
        this.#streams.set(controller, send);
        signal?.addEventListener('abort', () => {
          if (this.#streams.delete(controller)) controller.error(signal.reason);
        });
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
}
