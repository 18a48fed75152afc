import { createHash } from 'node:crypto';
import type { APIAttachment } from 'discord.js';
import type { ProductResponse } from '../http-server.ts';
import { DiscordError } from './errors.ts';
import type { DiscordState, StoredChannel } from './state.ts';

/** The URL of an attachment is valid for a day. */
const LIFETIME_SECONDS = 86_400;

export interface NewAttachment {
  name: string;
  contentType: string;
  bytes: Uint8Array;
  description?: string | undefined;
  /** Replaces the URL. */
  url?: string | undefined;
}

/** Stores a file and returns it as part of a message. The URL holds its own signature and needs no token. */
export function storeAttachment(
  state: DiscordState,
  channel: StoredChannel,
  file: NewAttachment,
): APIAttachment {
  const id = state.nextId();
  // The product replaces characters that are unusual in names of files.
  const filename = file.name.replaceAll(/[^A-Za-z0-9._-]+/g, '_');
  const path = `attachments/${channel.id}/${id}/${filename}`;
  const expiresSeconds = Math.floor(state.now().getTime() / 1000) + LIFETIME_SECONDS;
  const signature = createHash('sha256').update(`${path}${expiresSeconds}${state.random()}`).digest('hex');
  state.attachments.set(id, {
    id,
    bytes: file.bytes,
    contentType: file.contentType,
    path,
    expiresSeconds,
    signature,
  });
  const url = file.url ?? `${state.cdnUrl}/${path}?ex=${expiresSeconds.toString(16)}&is=0&hm=${signature}&`;
  return {
    id,
    filename,
    ...(filename !== file.name && { title: file.name.replace(/\.[^.]*$/, '') }),
    size: file.bytes.length,
    url,
    proxy_url: url,
    content_type: file.contentType,
    ...(file.description !== undefined && { description: file.description }),
  } as APIAttachment;
}

/** Answers a request to the CDN. The path is below its root. */
export function serveAttachment(state: DiscordState, path: string, query: URLSearchParams): ProductResponse {
  const attachment = [...state.attachments.values()].find((one) => one.path === path);
  const isValid =
    attachment !== undefined &&
    query.get('hm') === attachment.signature &&
    Number.parseInt(query.get('ex') ?? '', 16) === attachment.expiresSeconds &&
    state.now().getTime() < attachment.expiresSeconds * 1000;
  if (!isValid) return { status: 404, body: 'This content is no longer available.' };
  return { status: 200, headers: { 'content-type': attachment.contentType }, body: attachment.bytes };
}

/** Refuses a request to keep an attachment that the message does not have. */
export function keptAttachments(current: APIAttachment[], ids: (string | number)[]): APIAttachment[] {
  return ids.map((id) => {
    const attachment = current.find((one) => one.id === String(id));
    if (!attachment) throw new DiscordError(400, 50035, 'Invalid Form Body');
    return attachment;
  });
}
