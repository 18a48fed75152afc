import { get } from 'node:http';

export interface Follower {
  /**
   * Returns the time, by performance.now(), at which the bytes that complete `text` arrived. Each search begins after the previous
   * match. Fails if the stream ends first.
   */
  waitFor(text: string): Promise<number>;
  leave(): void;
}

/** Reads the event stream of a session on its own connection and waits for texts in order. */
export function follow(url: string): Follower {
  let text = '';
  let arrivedAt = 0;
  let failure: Error | undefined;
  let waiter: { expected: string; found: PromiseWithResolvers<number> } | undefined;

  function search(): void {
    const at = waiter ? text.indexOf(waiter.expected) : -1;
    if (!waiter || at < 0) return;
    text = text.slice(at + waiter.expected.length);
    waiter.found.resolve(arrivedAt);
    waiter = undefined;
  }

  function fail(error: Error): void {
    failure = error;
    waiter?.found.reject(error);
  }

  const request = get(url, { agent: false }, (response) => {
    if (response.statusCode !== 200) fail(new Error(`the stream responded with ${response.statusCode}`));
    response.setEncoding('latin1');
    response.on('data', (chunk: string) => {
      arrivedAt = performance.now();
      text += chunk;
      search();
    });
    response.once('close', () => fail(new Error('the stream has ended')));
  });
  request.once('error', fail);

  return {
    waitFor(expected) {
      if (failure) return Promise.reject(failure);
      const found = Promise.withResolvers<number>();
      waiter = { expected, found };
      search();
      return found.promise;
    },
    leave: () => void request.destroy(),
  };
}
