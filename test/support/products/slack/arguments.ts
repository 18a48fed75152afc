import type { ProductRequest } from '../http-server.ts';
import { SlackError } from './error.ts';

/** The arguments of a call. A form has text alone: structures are JSON in text. */
export class CallArguments {
  readonly values: Readonly<Record<string, unknown>>;

  constructor(values: Record<string, unknown>) {
    this.values = values;
  }

  text(name: string): string | undefined {
    const value = this.values[name];
    if (value === undefined || value === null) return undefined;
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }

  /** A truthy word of a form, or true. */
  flag(name: string): boolean {
    return ['true', '1'].includes(String(this.values[name]));
  }

  number(name: string, fallback: number): number {
    const text = this.text(name);
    return text === undefined || text === '' ? fallback : Number(text);
  }

  /** An array or an object. Throws a SlackError with `code` for text that is no JSON. */
  structure(name: string, code: string): unknown {
    const value = this.values[name];
    if (typeof value !== 'string') return value ?? undefined;
    if (value === '') return undefined;
    try {
      return JSON.parse(value);
    } catch {
      throw new SlackError(code);
    }
  }
}

export interface ParsedCall {
  args: CallArguments;
  /** The token of the header, or of the argument `token` of a form. */
  token: string | undefined;
  /** A warning of the response. */
  warning?: string;
}

/** Reads a call in each of the content types that Slack accepts. Throws a SlackError. */
export async function parseCall(request: ProductRequest): Promise<ParsedCall> {
  const { headers, query, body, method } = request;
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  const type = headers['content-type'] ?? '';
  if (method === 'GET' || body.length === 0) return fromForm(query, bearer);
  if (type === '') throw new SlackError('missing_post_type');
  const [name = '', ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  if (name === 'application/json') {
    const hasCharset = parameters.some((parameter) => parameter.startsWith('charset='));
    return {
      args: new CallArguments(jsonObject(body)),
      token: bearer,
      ...(!hasCharset && { warning: 'missing_charset' }),
    };
  }
  if (name === 'application/x-www-form-urlencoded') {
    return fromForm(new URLSearchParams(body.toString()), bearer);
  }
  if (name === 'multipart/form-data') {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    return fromForm(
      [...form].map(([key, value]) => [key, typeof value === 'string' ? value : value.name]),
      bearer,
    );
  }
  throw new SlackError('invalid_post_type');
}

function fromForm(entries: Iterable<string[]>, bearer: string | undefined): ParsedCall {
  const { token, ...values } = Object.fromEntries(entries) as Record<string, string>;
  return { args: new CallArguments(values), token: bearer ?? token };
}

function jsonObject(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Answered below.
  }
  throw new SlackError('invalid_json');
}
