import { API_BASE } from '../../api/client.ts';
import { shellWord } from './shell-word.ts';

export interface CurlOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** API path below /api/v1. */
  path: string;
  body?: unknown;
  /** Expected revision, sent as If-Match. */
  revision?: number | undefined;
  /** Adds an Authorization header, which team mode requires. */
  isTeam?: boolean;
}

/** Appends query parameters to a path. Omits parameters that are undefined, false or empty. */
export function pathWithQuery(path: string, parameters: object): string {
  const set = Object.entries(parameters).filter(
    ([, value]) => value !== undefined && value !== false && value !== '',
  );
  const query = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
  return query ? `${path}?${query}` : path;
}

/** Returns the request as a curl command. The command never contains a secret. */
export function curlOf({ method = 'GET', path, body, revision, isTeam = false }: CurlOptions): string {
  const lines = [`curl -sS ${shellWord(location.origin + API_BASE + path)}`];
  if (method !== 'GET' && !(method === 'POST' && body !== undefined)) lines.push(`-X ${method}`);
  if (isTeam) lines.push('-H "Authorization: Bearer $TOKEN"');
  if (revision !== undefined) lines.push(`-H 'If-Match: "${revision}"'`);
  if (body !== undefined)
    lines.push("-H 'Content-Type: application/json'", `-d ${shellWord(JSON.stringify(body))}`);
  return lines.join(' \\\n  ');
}
