import { randomBytes } from 'node:crypto';

/** A part of a form: its header lines and its content. */
export interface FormPart {
  head: string;
  content: string | Buffer;
}

export const field = (name: string, value: string): FormPart => ({
  head: `Content-Disposition: form-data; name="${name}"`,
  content: value,
});

export const file = (fileName: string, content: string | Buffer, name = 'files'): FormPart => ({
  head: `Content-Disposition: form-data; name="${name}"; filename="${fileName}"\r\nContent-Type: text/plain`,
  content,
});

/** Builds a form body without escaping or validation. */
export function formBody(parts: FormPart[], boundary = `b-${randomBytes(8).toString('hex')}`) {
  const chunks = parts.flatMap(({ head, content }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  const body = Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]);
  return { body, boundary, headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } };
}
