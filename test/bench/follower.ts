import { get } from 'node:http';

export interface Follower {
  /**
   * When the bytes came with which the text was there, in the time of performance.now(). Each search begins
   * after what the last one has found. Fails when the stream ends before.
   */
  seen(text: string): Promise<number>;
  leave(): void;
}

/** Reads the event stream of a session, on a connection of its own, and looks for one text after the other. */
export function follow(url: string): Follower {
  let text = '';
  let arrivedAt = 0;
  let failure: Error | undefined;
  let search: { wanted: string; found: PromiseWithResolvers<number> } | undefined;

  function look(): void {
    const at = search ? text.indexOf(search.wanted) : -1;
    if (!search || at < 0) return;
    text = text.slice(at + search.wanted.length);
    search.found.resolve(arrivedAt);
    search = undefined;
  }

  function fail(error: Error): void {
    failure = error;
    search?.found.reject(error);
  }

  const request = get(url, { agent: false }, (response) => {
    if (response.statusCode !== 200) fail(new Error(`the stream answered ${response.statusCode}`));
    response.setEncoding('latin1');
    response.on('data', (chunk: string) => {
      arrivedAt = performance.now();
      text += chunk;
      look();
    });
    response.once('close', () => fail(new Error('the stream has ended')));
  });
  request.once('error', fail);

  return {
    seen(wanted) {
      if (failure) return Promise.reject(failure);
      const found = Promise.withResolvers<number>();
      search = { wanted, found };
      look();
      return found.promise;
    },
    leave: () => void request.destroy(),
  };
}
