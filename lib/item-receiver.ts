/**
 * Receives the next item of a stream or its end, or its error, once. Neither function throws. An idle stream retains its
 * receiver only, while a promise and the functions that wait for it are a noticeable part of an idle stream.
 */
export interface ItemReceiver<Item> {
  receive(next: IteratorResult<Item>): void;
  fail(error: unknown): void;
}

/** An iterator that passes its next item to a receiver. One item is requested at a time. */
export interface ReceivableIterator<Item> extends AsyncIterableIterator<Item> {
  /** The receiver may be called before this returns. */
  nextTo(receiver: ItemReceiver<Item>): void;
}

/** Passes the next item of any iterator to a receiver. */
export function requestNext<Item>(source: AsyncIterator<Item>, receiver: ItemReceiver<Item>): void {
  if (isReceivable(source)) source.nextTo(receiver);
  else
    source.next().then(
      (next) => receiver.receive(next),
      (error) => receiver.fail(error),
    );
}

/** Returns the next item, for `next`. */
export function promiseNext<Item>(source: ReceivableIterator<Item>): Promise<IteratorResult<Item>> {
  return new Promise((resolve, reject) => source.nextTo({ receive: resolve, fail: reject }));
}

function isReceivable<Item>(source: AsyncIterator<Item>): source is ReceivableIterator<Item> {
  return 'nextTo' in source;
}
