import { refuse } from '../../../../lib/errors.ts';
import type { CallOptions } from '../../../../lib/grpc/contract.ts';
import { mediaTypeOf } from '../../../../lib/media-type.ts';
import type { Session } from '../../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Clients } from '../../../clients.ts';
import { type TranscriptMessage, transcriptHead, transcriptMessage } from './transcript.ts';
import type { SessionResource } from './uri.ts';

/** The longest content of a resource, in bytes. */
export const MAX_RESOURCE_BYTES = 4 * 1024 * 1024;
/** The messages of a transcript are read up to this many bytes, because the transcript shortens what they contain. */
const MAX_MESSAGE_BYTES = 8 * MAX_RESOURCE_BYTES;
const PAGE_MESSAGES = 100;

interface ResourceReader {
  clients: Pick<Clients, 'sessions' | 'files'>;
  call: CallOptions;
}

export type ResourceContent = { mimeType: string } & ({ text: string } | { blob: string });

/**
 * Returns the content of a resource of a session that the caller may read. Reading stops at the limit. Refuses with
 * FILE_TOO_LARGE longer content, and with FILE_NOT_FOUND a path without a file.
 */
export async function readResource(
  reader: ResourceReader,
  session: Session,
  resource: SessionResource,
): Promise<ResourceContent> {
  switch (resource.kind) {
    case 'transcript':
      return { mimeType: 'text/markdown', text: await readTranscript(reader, session) };
    case 'events':
      return { mimeType: 'application/x-ndjson', text: await readEvents(reader, session.sessionId) };
    case 'file':
      return await readFile(reader, session.sessionId, resource.path);
  }
}

async function readTranscript({ clients, call }: ResourceReader, session: Session): Promise<string> {
  const { sessionId, title, createdAt } = session;
  const text = new BoundedText(
    MAX_RESOURCE_BYTES,
    'The transcript is longer. Read the messages in pages with the tool `list_messages`.',
  );
  const read = new BoundedText(MAX_MESSAGE_BYTES, text.remedy);
  text.add(transcriptHead({ sessionId, title, createdAt }));
  let cursor = '';
  do {
    const { events, page } = await clients.sessions.listMessages(
      { sessionId, page: { limit: PAGE_MESSAGES, cursor } },
      call,
    );
    for (const { json } of events) {
      read.count(json);
      text.add(transcriptMessage(JSON.parse(json) as TranscriptMessage));
    }
    cursor = page?.nextCursor ?? '';
  } while (cursor !== '');
  return text.join();
}

/** Each line is an event, as in the list of events, except that the deltas of a message are joined. */
async function readEvents({ clients, call }: ResourceReader, sessionId: string): Promise<string> {
  const text = new BoundedText(
    MAX_RESOURCE_BYTES,
    'The journal is longer. Read it in pages with the tool `list_events`.',
  );
  const journal = { sessionId, afterSeq: 0, fromNow: false, types: [], untilCaughtUp: true };
  const chunks = clients.sessions.follow({ ...journal, mergeDeltas: true, passive: true }, call);
  for await (const { events } of chunks) for (const { json } of events) text.add(`${json}\n`);
  return text.join();
}

async function readFile(
  { clients, call }: ResourceReader,
  sessionId: string,
  path: string,
): Promise<ResourceContent> {
  const location = {
    place: { of: { $case: 'sessionId' as const, value: sessionId } },
    lease: undefined,
    path,
  };
  const { entry, version } = await clients.files.getEntry(location, call);
  if (entry?.kind !== 'file') throw refuse('FILE_NOT_FOUND', 'The path is not that of a file.');
  if (entry.size > MAX_RESOURCE_BYTES)
    throw tooLarge(`The file has ${entry.size} bytes. Read it in ranges with the tool \`read_file\`.`);
  const range = { version, offset: 0, length: undefined };
  const chunks: Buffer[] = [];
  for await (const { bytes } of clients.files.readContent({ ...location, ...range }, call))
    chunks.push(bytes);
  const bytes = Buffer.concat(chunks);
  return { mimeType: mediaTypeOf(path), ...textOrBlob(bytes) };
}

/** UTF-8 without NUL characters is text. */
function textOrBlob(bytes: Buffer): { text: string } | { blob: string } {
  if (!bytes.includes(0)) {
    try {
      return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
    } catch {
      // The content is not UTF-8.
    }
  }
  return { blob: bytes.toString('base64') };
}

/** Text of a limited length in bytes. A longer one is refused with FILE_TOO_LARGE. */
class BoundedText {
  readonly remedy: string;
  readonly #pieces: string[] = [];
  #remaining: number;

  constructor(maxBytes: number, remedy: string) {
    this.#remaining = maxBytes;
    this.remedy = remedy;
  }

  add(piece: string): void {
    this.count(piece);
    this.#pieces.push(piece);
  }

  /** Counts a text that is not kept. */
  count(piece: string): void {
    this.#remaining -= Buffer.byteLength(piece);
    if (this.#remaining < 0) throw tooLarge(this.remedy);
  }

  join(): string {
    return this.#pieces.join('');
  }
}

const tooLarge = (remedy: string) =>
  refuse('FILE_TOO_LARGE', `A resource has at most ${MAX_RESOURCE_BYTES} bytes. ${remedy}`);
