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

/** A text as one word of a shell. */
export const shellWord = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** A path with what is asked for behind a question mark: what is undefined, false or empty is not asked for. */
export function pathWith(path: string, asked: object): string {
  const set = Object.entries(asked).filter(
    ([, value]) => value !== undefined && value !== false && value !== '',
  );
  const query = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
  return query ? `${path}?${query}` : path;
}

/** The same request as a line for a shell. Never holds a secret. */
export function curlOf({ method = 'GET', path, body, version, isTeam = false }: CurlOptions): string {
  const lines = [`curl -sS ${shellWord(location.origin + API + path)}`];
  if (method !== 'GET' && !(method === 'POST' && body !== undefined)) lines.push(`-X ${method}`);
  if (isTeam) lines.push('-H "Authorization: Bearer $TOKEN"');
  if (version !== undefined) lines.push(`-H 'If-Match: "${version}"'`);
  if (body !== undefined)
    lines.push("-H 'Content-Type: application/json'", `-d ${shellWord(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}
