import type { IncomingMessage } from 'node:http';
import type { InboundFile } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { tooLarge } from '../download.ts';
import { ProductError } from '../product-error.ts';
import { type BotApi, connectionError } from './bot-api.ts';
import type { TelegramRefusal } from './refusal.ts';
import { getFrom, type TelegramTransport } from './transport.ts';

/** Bots cannot load longer files (https://core.telegram.org/bots/api#getfile). */
const MAX_BYTES = 20 * 1024 * 1024;

/** Returns the bytes of a file of a message. The token is sent to the host of the Bot API alone. */
export async function downloadFile(
  api: BotApi,
  transport: TelegramTransport,
  { fileId, size }: InboundFile,
  fileMaxBytes: number,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const limit = Math.min(fileMaxBytes, MAX_BYTES);
  if (size > limit) throw tooLarge(limit);
  const file = await api.call((bot, apiSignal) => bot.getFile(fileId, apiSignal), signal, fileProblem);
  if ((file.file_size ?? 0) > limit) throw tooLarge(limit);
  const path = file.file_path;
  if (!path) throw new ProductError('gone', 'Telegram does not have the file any more.');
  if (path.startsWith('/'))
    throw new ProductError(
      'gone',
      'The server of the Bot API runs with --local, so it does not serve its files over HTTP.',
    );
  const response = await getFrom(transport, api.filePath(path), signal).catch((error: unknown) => {
    throw downloadError(error, signal);
  });
  const { statusCode = 0 } = response;
  if (statusCode !== 200) {
    response.destroy();
    const isTemporary = statusCode === 429 || statusCode >= 500;
    throw new ProductError(
      isTemporary ? 'unavailable' : 'gone',
      `Telegram answered with status ${statusCode} instead of the file.`,
    );
  }
  return bytesOf(response, limit, signal);
}

function fileProblem({ code, description }: TelegramRefusal): undefined {
  if (code !== 400) return undefined;
  if (/file is too big/i.test(description)) throw tooLarge(MAX_BYTES);
  throw new ProductError('gone', 'Telegram does not have the file any more.');
}

async function* bytesOf(
  response: IncomingMessage,
  limit: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  let length = 0;
  try {
    for await (const chunk of response) {
      const bytes: Uint8Array = chunk;
      length += bytes.length;
      if (length > limit) throw tooLarge(limit);
      yield bytes;
    }
  } catch (error) {
    throw downloadError(error, signal);
  } finally {
    response.destroy();
  }
}

/** A download has no effect, so it can be repeated. */
function downloadError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const translated = connectionError(error);
  if (translated.kind !== 'ambiguous') return translated;
  return new ProductError('unavailable', 'The connection to Telegram was lost while a file was read.');
}
