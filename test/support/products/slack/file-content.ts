import type { ProductRequest, ProductResponse } from '../http-server.ts';
import type { PendingUpload } from './methods/files.ts';
import type { SlackFile, Workspace } from './workspace.ts';

const TEXT = { 'content-type': 'text/plain; charset=utf-8' };

/** Takes the bytes of an upload: raw, or as the file of a form. */
export async function receiveUpload(
  uploads: Map<string, PendingUpload>,
  ticket: string,
  { body, headers, method }: ProductRequest,
): Promise<ProductResponse> {
  const upload = uploads.get(ticket);
  if (!upload) return { status: 404, headers: TEXT, body: 'not_found' };
  if (method !== 'POST' && method !== 'PUT')
    return { status: 405, headers: TEXT, body: 'method_not_allowed' };
  const type = headers['content-type'] ?? '';
  const bytes = type.startsWith('multipart/form-data') ? await fileOfForm(body, type) : body;
  if (bytes.length !== upload.length) return { status: 400, headers: TEXT, body: 'length_mismatch' };
  upload.bytes = bytes;
  return { status: 200, headers: TEXT, body: `OK - ${bytes.length}` };
}

async function fileOfForm(body: Buffer, type: string): Promise<Buffer> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  for (const value of form.values())
    if (typeof value !== 'string') return Buffer.from(await value.arrayBuffer());
  return Buffer.alloc(0);
}

/**
 * Returns the content of a file. Without a valid token or the scope `files:read`, Slack redirects to its login page, which
 * has status 200.
 */
export function sendFile(workspace: Workspace, path: string, request: ProductRequest): ProductResponse {
  const { app, teamId } = workspace;
  const file = fileOf(workspace, path);
  const isAllowed =
    request.headers.authorization === `Bearer ${app.botToken}` &&
    app.tokenError === undefined &&
    app.scopes.has('files:read');
  if (!isAllowed) return { status: 302, headers: { location: `/?redir=${encodeURIComponent(path)}` } };
  if (!file || file.isDeleted || !path.includes(teamId))
    return { status: 404, headers: TEXT, body: 'not_found' };
  const { mimetype, bytes, name } = file;
  const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;
  return {
    status: 200,
    headers: {
      'content-type': mimetype,
      'content-disposition': disposition,
      'content-length': String(bytes.length),
    },
    body: bytes,
  };
}

function fileOf({ files }: Workspace, path: string): SlackFile | undefined {
  const id = /^\/files-pri\/[^/]+-(F[A-Z0-9]+)\//.exec(path)?.[1];
  return id === undefined ? undefined : files.get(id);
}

export const LOGIN_PAGE: ProductResponse = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html><html lang="en-US"><head><title>Sign in | Slack</title></head><body></body></html>',
};
