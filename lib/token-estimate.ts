/*
 * Estimates of tokens without a tokenizer, which the runner uses for whole requests and sessions for messages that no request
 * has had yet.
 */

/**
 * UTF-8 bytes of one token. Tokenizers of current models need a token for about 4.5 bytes of English prose, 3.5 bytes of
 * source code, and 3 bytes of JSON or of Chinese, which is one character.
 */
const BYTES_PER_TOKEN = 3.5;
/** The role and the delimiters of a message or of a tool. */
export const ENVELOPE_TOKENS = 4;
/** Providers scale images down to about 1,600 tokens (https://docs.claude.com/en/docs/build-with-claude/vision). */
export const IMAGE_TOKENS = 1_600;
/** A page of a PDF document has 1,500 to 3,000 tokens and about 64 KiB. */
const DOCUMENT_BYTES_PER_TOKEN = 32;

/** Estimates the tokens of a text; 0 for an empty one. */
export function estimateTextTokens(text: string): number {
  return tokensOfBytes(Buffer.byteLength(text));
}

/** Estimates the tokens of a text of this many UTF-8 bytes. */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Estimates the tokens of a file of this many bytes. */
export function tokensOfFile(mediaType: string, bytes: number): number {
  if (mediaType.startsWith('image/')) return IMAGE_TOKENS;
  if (mediaType.startsWith('text/')) return tokensOfBytes(bytes);
  return Math.ceil(bytes / DOCUMENT_BYTES_PER_TOKEN);
}
