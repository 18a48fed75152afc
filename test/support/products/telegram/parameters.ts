import type { ProductRequest } from '../http-server.ts';
import { parseMultipart, type UploadedFile } from '../multipart.ts';
import { badRequest } from './errors.ts';

/**
 * The parameters of a Bot API request. They come from the query, from JSON, or from a form, in which objects are JSON text.
 * Values of a wrong type count as absent, as at the product.
 */
export interface Parameters {
  text(name: string): string | undefined;
  integer(name: string): number | undefined;
  isTrue(name: string): boolean;
  /** A value that is JSON. Text that is not JSON is refused with status 400. */
  object(name: string): unknown;
  file(name: string): UploadedFile | undefined;
  readonly files: readonly UploadedFile[];
  /** All values as they were sent, for logs. */
  readonly values: Record<string, unknown>;
}

export async function readParameters({ headers, query, body }: ProductRequest): Promise<Parameters> {
  const type = headers['content-type'] ?? '';
  const fromQuery = Object.fromEntries(query);
  if (type.startsWith('multipart/form-data')) {
    const { fields, files } = parseMultipart(type, body);
    return createParameters({ ...fromQuery, ...fields }, files);
  }
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return createParameters({ ...fromQuery, ...Object.fromEntries(new URLSearchParams(body.toString())) });
  }
  if (!type.startsWith('application/json') || body.length === 0) return createParameters(fromQuery);
  return createParameters({ ...fromQuery, ...parseJsonBody(body.toString()) });
}

function parseJsonBody(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Falls through to the refusal.
  }
  throw badRequest("can't parse request JSON object");
}

export function createParameters(values: Record<string, unknown>, files: UploadedFile[] = []): Parameters {
  function text(name: string): string | undefined {
    const value = values[name];
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    return typeof value === 'string' ? value : undefined;
  }
  return {
    values,
    files,
    text,
    integer(name) {
      const value = text(name)?.trim();
      return value !== undefined && /^-?\d+$/.test(value) ? Number(value) : undefined;
    },
    isTrue: (name) => ['true', 'yes', '1'].includes(text(name)?.toLowerCase() ?? ''),
    object(name) {
      const value = values[name];
      if (typeof value !== 'string' || value === '') return value === '' ? undefined : value;
      try {
        return JSON.parse(value);
      } catch {
        throw badRequest(`can't parse ${name.replaceAll('_', ' ')} JSON object`);
      }
    },
    file(name) {
      // A field may name another one: attach://<field>.
      const field = text(name)?.match(/^attach:\/\/(.+)$/)?.[1] ?? name;
      return files.find((file) => file.field === field);
    },
  };
}
