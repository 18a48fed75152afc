import { InputFile } from 'grammy';
import type { OutboundFile } from '../product.ts';
import { ProductError } from '../product-error.ts';

/** Bots cannot send longer files (https://core.telegram.org/bots/api#senddocument). */
const MAX_BYTES = 50_000_000;

/** Returns the file for one request, and the error that has ended its bytes. Throws `refused` for files that Telegram refuses. */
export function documentOf({ name, size, read }: OutboundFile) {
  if (size > MAX_BYTES)
    throw new ProductError('refused', `Telegram accepts no files of more than ${MAX_BYTES} bytes.`);
  if (size === 0) throw new ProductError('refused', 'Telegram accepts no empty files.');
  const failure: { error?: unknown } = {};
  async function* bytes(): AsyncIterable<Uint8Array> {
    try {
      yield* read();
    } catch (error) {
      failure.error = error;
      throw error;
    }
  }
  return { document: new InputFile(bytes, fileName(name)), failure };
}

/** The library writes the name without quotes into the header of the form, where these characters would end it. */
function fileName(name: string): string {
  const base = name.split('/').at(-1) ?? '';
  return base.replace(/[\p{Cc}";\\]/gu, '_').trim() || 'file';
}
