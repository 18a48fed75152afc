import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import { MAX_PART_BYTES, MAX_PARTS } from '../../../lib/part-limits.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { FilesServiceDefinition } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { Lease } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ContentPart, GeneratedFile } from '../models/model-step.ts';
import { fileTypeOf } from '../parts/file-type.ts';
import type { JournaledPart } from '../parts/reference.ts';
import { retryTransient } from '../workspace/retry-transient.ts';
import { writeContentsRequests } from '../workspace/upload.ts';

/** The images and files of an answer cannot be stored, and a repetition would fail, too. The message is for the owner. */
export class FilesRefused extends Error {
  override readonly name = 'FilesRefused';
  readonly code: 'model_output_too_large' | 'storage_quota_exceeded';

  constructor(code: FilesRefused['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

interface StoreOptions {
  files: Pick<Client<FilesServiceDefinition>, 'writeContents' | 'storeParts'>;
  clock: Clock;
  lease: Lease;
  trace: Trace;
  /** Ends the repetition of failed attempts. */
  signal: AbortSignal;
}

const MIB = 1024 * 1024;
/** An answer costs time and money, so it is kept while the files service restarts. */
const RETRY_MS = 60_000;
const ATTEMPT_MS = 120_000;

/** A part of an answer without bytes. */
export type StoredContentPart = Exclude<ContentPart, GeneratedFile> | JournaledPart;

/**
 * Stores the bytes of the images and files of an answer under the lease of its turn. Returns the content with their digests
 * in their place. Stored bytes that no message refers to later are erased by the files service. Rejects with FilesRefused and
 * with refusals of the files service.
 */
export async function storeFiles(
  content: readonly ContentPart[],
  options: StoreOptions,
): Promise<StoredContentPart[]> {
  const made = content.filter(hasBytes);
  checkLimits(made);
  const stored = made.length === 0 ? [] : await store(made, options).catch(refuseByName);
  const remaining = stored[Symbol.iterator]();
  return content.map((part) => {
    if (!hasBytes(part)) return part;
    const { value } = remaining.next();
    if (!value) throw new Error('the files service returned no part for a file');
    return value;
  });
}

function hasBytes(part: ContentPart): part is GeneratedFile {
  return part.type === 'file' && typeof part.data !== 'string';
}

function checkLimits(made: readonly GeneratedFile[]): void {
  if (made.length > MAX_PARTS)
    throw new FilesRefused(
      'model_output_too_large',
      `The answer of the model has ${made.length} images and files. At most ${MAX_PARTS} can be stored.`,
    );
  if (made.some(({ data }) => data.length > MAX_PART_BYTES))
    throw new FilesRefused(
      'model_output_too_large',
      `A file in the answer of the model exceeds the limit of ${MAX_PART_BYTES / MIB} MiB.`,
    );
}

async function store(
  made: readonly GeneratedFile[],
  { files, clock, lease, trace, signal }: StoreOptions,
): Promise<JournaledPart[]> {
  const { sessionId } = lease;
  const place = { of: { $case: 'sessionId' as const, value: sessionId } };
  const sources = made.map(({ data }) => ({ size: data.length, read: () => [data] }));
  const attempt = <Answer>(call: (options: { trace: Trace; deadline: number }) => Promise<Answer>) =>
    retryTransient(
      clock,
      signal,
      () => call({ trace, deadline: clock.now().getTime() + ATTEMPT_MS }),
      RETRY_MS,
    );
  const { contents } = await attempt((options) =>
    files.writeContents(writeContentsRequests({ place, lease }, sources), options),
  );
  const parts = made.map((file, index) => ({
    ...fileTypeOf(file.data, file.mediaType),
    ...{ name: '', attachment: undefined, contentId: contents[index]?.contentId },
  }));
  const request = { sessionId, ownerId: '', assistantId: '', parts, lease };
  const { parts: stored } = await attempt((options) => files.storeParts(request, options));
  return stored.map(({ sha256, size, mediaType, name }, index) => {
    const { type } = parts[index] ?? { type: 'file' as const };
    const { providerOptions } = made[index] ?? {};
    const part = { type, media_type: mediaType, ...(name && { name }), sha256, size };
    return providerOptions ? { ...part, providerOptions } : part;
  });
}

function refuseByName(error: unknown): never {
  const code = error instanceof Refusal ? error.code : undefined;
  if (code === 'QUOTA_EXCEEDED')
    throw new FilesRefused(
      'storage_quota_exceeded',
      'The images and files of the answer exceed the storage limits of the session or of its owner. Delete files.',
      { cause: error },
    );
  if (code === 'FILE_TOO_LARGE')
    throw new FilesRefused(
      'model_output_too_large',
      'A file in the answer of the model exceeds the size limit of a file.',
      { cause: error },
    );
  throw error;
}
