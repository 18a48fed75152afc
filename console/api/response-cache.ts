/** Limit of all kept bodies together, in UTF-16 units. */
const MAX_CHARS = 4_000_000;

interface CachedResponse {
  etag: string;
  body: string;
}

/**
 * Bodies of list responses by URL, for requests with If-None-Match. Beyond its limit, the cache drops the responses that
 * were used least recently. It does not keep a response that exceeds the limit alone.
 */
export class ResponseCache {
  readonly #maxChars: number;
  readonly #responses = new Map<string, CachedResponse>();
  #chars = 0;

  constructor(maxChars = MAX_CHARS) {
    this.#maxChars = maxChars;
  }

  find(url: string): CachedResponse | undefined {
    const found = this.#responses.get(url);
    if (!found) return undefined;
    this.#responses.delete(url);
    this.#responses.set(url, found);
    return found;
  }

  store(url: string, response: CachedResponse): void {
    this.#drop(url);
    if (response.body.length > this.#maxChars) return;
    this.#responses.set(url, response);
    this.#chars += response.body.length;
    for (const oldest of this.#responses.keys()) {
      if (this.#chars <= this.#maxChars) return;
      this.#drop(oldest);
    }
  }

  #drop(url: string): void {
    this.#chars -= this.#responses.get(url)?.body.length ?? 0;
    this.#responses.delete(url);
  }
}
