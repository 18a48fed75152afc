import { randomBytes } from 'node:crypto';

/** A part of a form as it is sent: its head line by line, and its content. */
export interface SentPart {
  head: string;
  content: string | Buffer;
}

export const field = (name: string, value: string): SentPart => ({
  head: `Content-Disposition: form-data; name="${name}"`,
  content: value,
});

export const file = (fileName: string, content: string | Buffer, name = 'files'): SentPart => ({
  head: `Content-Disposition: form-data; name="${name}"; filename="${fileName}"\r\nContent-Type: text/plain`,
  content,
});

/** A body in which nothing is escaped or checked. */
export function formBody(parts: SentPart[], boundary = `b-${randomBytes(8).toString('hex')}`) {
  const pieces = parts.flatMap(({ head, content }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  const body = Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
  return { body, boundary, headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } };
}
