import { Refusal } from '../../../lib/errors.ts';
import { IMAGE_HEAD_BYTES, imageTypeOf } from '../../../lib/image-bytes.ts';
import type { InboundFile } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { WriteContentsRequest } from '../../../proto/gen/ahs/files/v1/files.ts';
import { ProductError } from '../products/product-error.ts';
import { type DeliveryContext, type OpenDelivery, ownerCall } from './delivery-context.ts';

/** A file of a message: in the workspace, or the reason why it is not there. */
export type ReceivedFile = { name: string } & (
  | { path: string; size: number; mediaType: string }
  | { problem: string }
);

const MESSAGE_BYTES = 1024 * 1024;
const MAX_NAME_CHARACTERS = 100;
/** Attempts of a delivery after which a file that is not available is left out. */
const MAX_ATTEMPTS = 3;

/** Writes the files of a message below inbox/. Repeating it has no further effect. Rejects when a file may be available later. */
export async function receiveFiles(
  delivery: OpenDelivery,
  sessionId: string,
  context: DeliveryContext,
): Promise<ReceivedFile[]> {
  const names = uniqueNames(delivery.event.files.map(({ name }) => name));
  const received: ReceivedFile[] = [];
  // One after the other, because each is streamed through the memory of this worker.
  for (const [index, file] of delivery.event.files.entries())
    received.push(await receiveFile(delivery, sessionId, file, names[index] ?? 'file', context));
  return received;
}

async function receiveFile(
  delivery: OpenDelivery,
  sessionId: string,
  file: InboundFile,
  name: string,
  { files, fileMaxBytes }: DeliveryContext,
): Promise<ReceivedFile> {
  const { work, channel, signal } = delivery;
  const place = { of: { $case: 'sessionId', value: sessionId } } as const;
  const path = `inbox/${work.deliveryId.slice(-8).toLowerCase()}/${name}`;
  let head = Buffer.alloc(0);
  // The error of a stream that a call reads would come back as one of the call.
  let failure: unknown;

  async function* messages(): AsyncGenerator<WriteContentsRequest> {
    yield { kind: { $case: 'place', value: { place, lease: undefined } } };
    yield { kind: { $case: 'begin', value: { size: undefined } } };
    let size = 0;
    try {
      for await (const chunk of await channel.client.downloadFile(file, signal)) {
        size += chunk.length;
        if (size > fileMaxBytes) throw new ProductError('too_large', tooLarge(fileMaxBytes));
        if (head.length < IMAGE_HEAD_BYTES) head = Buffer.concat([head, chunk]).subarray(0, IMAGE_HEAD_BYTES);
        for (let begin = 0; begin < chunk.length; begin += MESSAGE_BYTES) {
          const part = chunk.subarray(begin, begin + MESSAGE_BYTES);
          const value = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
          yield { kind: { $case: 'bytes', value } };
        }
      }
    } catch (error) {
      failure = error;
      throw error;
    }
  }

  try {
    if (file.size > fileMaxBytes) throw new ProductError('too_large', tooLarge(fileMaxBytes));
    const call = ownerCall(delivery);
    const { contents } = await files.writeContents(messages(), call);
    const [content] = contents;
    if (!content) throw new Error('the service files returned no content');
    const putFile = { path, contentId: content.contentId, executable: false, modifiedAt: undefined };
    await files.changeWorkspace(
      {
        ...{ place, lease: undefined, idempotencyKey: '', upload: true },
        changes: [{ kind: { $case: 'putFile', value: putFile } }],
      },
      call,
    );
    return { name, path, size: content.size, mediaType: imageTypeOf(head) ?? '' };
  } catch (error) {
    return { name, problem: problemOf(failure ?? error, work.attempts) };
  }
}

/** Returns the reason that the message names. Throws an error that may not occur again. */
function problemOf(error: unknown, attempts: number): string {
  if (error instanceof ProductError) {
    const isTemporary =
      error.kind === 'unavailable' || error.kind === 'rate_limited' || error.kind === 'ambiguous';
    if (!isTemporary || attempts >= MAX_ATTEMPTS) return error.message;
  }
  if (error instanceof Refusal && LIMITS.includes(error.code)) return error.message;
  throw error;
}

const LIMITS: readonly string[] = [
  'FILE_TOO_LARGE',
  'WORKSPACE_FULL',
  'QUOTA_EXCEEDED',
  'INVALID_REQUEST',
  'INVALID_PATH',
];

function tooLarge(fileMaxBytes: number): string {
  return `The file has more than ${fileMaxBytes} bytes.`;
}

/** Returns names for one directory: without separators, control characters and leading dots, and all different. */
export function uniqueNames(names: readonly string[]): string[] {
  const used = new Set<string>();
  return names.map((name) => {
    const clean = cleanName(name);
    let unique = clean;
    for (let number = 2; used.has(unique.toLowerCase()); number++) unique = numbered(clean, number);
    used.add(unique.toLowerCase());
    return unique;
  });
}

function cleanName(name: string): string {
  const clean = name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}/\\]/gu, '_')
    .replace(/^[. ]+|[. ]+$/g, '');
  if (clean.length <= MAX_NAME_CHARACTERS) return clean || 'file';
  const suffix = /\.[A-Za-z0-9]{1,10}$/.exec(clean)?.[0] ?? '';
  return `${clean.slice(0, MAX_NAME_CHARACTERS - suffix.length).toWellFormed()}${suffix}`;
}

function numbered(name: string, number: number): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? `${name.slice(0, dot)} ${number}${name.slice(dot)}` : `${name} ${number}`;
}
