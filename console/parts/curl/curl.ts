import { API } from '../../api/client.ts';

export interface CurlOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /api/v1. */
  path: string;
  body?: unknown;
  /** The version that it is for: of another one, it is refused. */
  version?: number | undefined;
  /** A token has to be shown where people log in. */
  isTeam?: boolean;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The same request as a line for a shell. Never holds a secret. */
export function curlOf({ method = 'GET', path, body, version, isTeam = false }: CurlOptions): string {
  const lines = [`curl -sS ${quoted(location.origin + API + path)}`];
  if (method !== 'GET' && !(method === 'POST' && body !== undefined)) lines.push(`-X ${method}`);
  if (isTeam) lines.push('-H "Authorization: Bearer $TOKEN"');
  if (version !== undefined) lines.push(`-H 'If-Match: "${version}"'`);
  if (body !== undefined)
    lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}
