import type { APIAllowedMentions, APIMessageTopLevelComponent } from 'discord.js';
import type { ProductRequest } from '../http-server.ts';
import { parseMultipart, type UploadedFile } from '../multipart.ts';
import { DiscordError, invalidForm, tooLarge } from './errors.ts';

export const MAX_CONTENT = 2000;
const MAX_NONCE = 25;
const MAX_ROWS = 5;
const MAX_BUTTONS = 5;
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MENTION_LISTS = ['users', 'roles'] as const;

export interface MessageBody {
  content?: string | null;
  nonce?: string | number;
  enforce_nonce?: boolean;
  flags?: number;
  embeds?: object[];
  components?: APIMessageTopLevelComponent[];
  allowed_mentions?: APIAllowedMentions;
  message_reference?: { message_id?: string; channel_id?: string; fail_if_not_exists?: boolean };
  /** Kept and new attachments. Those with an index of `files[n]` name a new one. */
  attachments?: { id: string | number; filename?: string; description?: string }[];
}

/** A file of `files[n]` with its index. */
export interface IndexedFile extends UploadedFile {
  index: number;
}

export interface RequestBody<T> {
  json: T;
  files: IndexedFile[];
}

/** Reads a body of JSON, or a form with `payload_json` and `files[n]`. */
export function readBody<T extends object>({ headers, body }: ProductRequest): RequestBody<T> {
  const type = headers['content-type'] ?? '';
  if (body.length === 0) return { json: {} as T, files: [] };
  if (!type.startsWith('multipart/form-data')) {
    if (!type.startsWith('application/json'))
      throw new DiscordError(
        400,
        50035,
        'Expected "Content-Type" header to be one of {\'application/json\'}.',
      );
    return { json: parseJson(body.toString()), files: [] };
  }
  const form = parseMultipart(type, body);
  const files = form.files.flatMap((file) => {
    const index = /^files\[(\d+)\]$/.exec(file.field)?.[1];
    return index === undefined ? [] : [{ ...file, index: Number(index) }];
  });
  if (files.some(({ bytes }) => bytes.length > MAX_FILE_BYTES)) throw tooLarge();
  return { json: parseJson(form.fields.payload_json ?? '{}'), files };
}

function parseJson<T>(text: string): T {
  try {
    return JSON.parse(text);
  } catch {
    throw new DiscordError(400, 50109, 'The request body contains invalid JSON.');
  }
}

/** Refuses members that are too long or contradict each other, as the product does. */
export function checkMessageBody({ content, nonce, components, allowed_mentions }: MessageBody): void {
  if (typeof content === 'string' && [...content].length > MAX_CONTENT)
    throw invalidForm('content', 'BASE_TYPE_MAX_LENGTH', `Must be ${MAX_CONTENT} or fewer in length.`);
  if (nonce !== undefined && String(nonce).length > MAX_NONCE)
    throw invalidForm('nonce', 'BASE_TYPE_MAX_LENGTH', `Must be ${MAX_NONCE} or fewer in length.`);
  for (const list of MENTION_LISTS) {
    if (allowed_mentions?.parse?.includes(list as never) && allowed_mentions[list]?.length)
      throw invalidForm(
        'allowed_mentions',
        'MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE',
        `parse:["${list}"] and ${list}: [ids...] are mutually exclusive.`,
      );
  }
  checkComponents(components ?? []);
}

interface ButtonFields {
  type: number;
  style?: number;
  label?: string;
  custom_id?: string;
  url?: string;
}

function checkComponents(rows: APIMessageTopLevelComponent[]): void {
  const between = (path: string, limit: number) =>
    invalidForm(path, 'BASE_TYPE_BAD_LENGTH', `Must be between 1 and ${limit} in length.`);
  if (rows.length > MAX_ROWS) throw between('components', MAX_ROWS);
  const ids = new Set<string>();
  for (const [row, { components = [] }] of (rows as { components?: ButtonFields[] }[]).entries()) {
    const path = `components.${row}.components`;
    if (components.length < 1 || components.length > MAX_BUTTONS) throw between(path, MAX_BUTTONS);
    for (const [column, { style, label, custom_id, url }] of components.entries()) {
      const at = `${path}.${column}`;
      if ((label?.length ?? 0) > 80)
        throw invalidForm(`${at}.label`, 'BASE_TYPE_MAX_LENGTH', 'Must be 80 or fewer in length.');
      if (style === 5 ? url === undefined : custom_id === undefined)
        throw invalidForm(
          `${at}.${style === 5 ? 'url' : 'custom_id'}`,
          'BASE_TYPE_REQUIRED',
          'This field is required',
        );
      if (custom_id === undefined) continue;
      if (custom_id.length < 1 || custom_id.length > 100) throw between(`${at}.custom_id`, 100);
      if (ids.has(custom_id))
        throw invalidForm(
          `${at}.custom_id`,
          'COMPONENT_CUSTOM_ID_DUPLICATED',
          'Component custom id cannot be duplicated',
        );
      ids.add(custom_id);
    }
  }
}
