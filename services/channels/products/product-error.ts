/**
 * - `rate_limited`: the product refused the request because of a rate limit. The request had no effect. Tried again after
 *   `retryAfterMs`.
 * - `unavailable`: the request had no effect, for example because no connection was made, or the product answered with
 *   500, 502, 503 or 504. Tried again with backoff.
 * - `ambiguous`: the request was sent and its answer was lost, so it may have had its effect. For `createPost` and
 *   `uploadFile` see `Product.findPost`; other requests are tried again.
 * - `refused`: the product will never accept this request, for example because the chat is gone or the bot may not write
 *   there. The post is `failed`.
 * - `missing`: the post to edit or to delete does not exist any more. It counts as edited.
 * - `unauthorized`: the product refuses the bot: the token, an intent or a scope is missing, or another receiver of the
 *   events is registered. The connection is `failed` and is not tried again before the channel is changed.
 * - `too_large`, `gone`: only of `downloadFile`. The message names the file and the reason.
 */
export type ProductErrorKind =
  | 'rate_limited'
  | 'unavailable'
  | 'ambiguous'
  | 'refused'
  | 'missing'
  | 'unauthorized'
  | 'too_large'
  | 'gone';

/** A failed request to a product. The message is shown to the owner of the channel and contains no secret. */
export class ProductError extends Error {
  override readonly name = 'ProductError';
  readonly kind: ProductErrorKind;
  /** Only of `rate_limited`: the product's Retry-After, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ProductErrorKind,
    message: string,
    options: { retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }
}
