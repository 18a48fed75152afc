import { describe, expect, it } from 'vitest';
import { parseMultipart } from '../support/products/multipart.ts';

const parse = (text: string) => parseMultipart('multipart/form-data; boundary=b', Buffer.from(text));

describe('parseMultipart', () => {
  it('reads the form that fetch sends, with names of files in UTF-8 and binary content', async () => {
    const form = new FormData();
    form.set('a', 'one\r\ntwo');
    form.set('files[0]', new Blob([new Uint8Array([0, 13, 10, 255])], { type: 'image/png' }), 'ä "1".png');
    const request = new Request('http://127.0.0.1/', { method: 'POST', body: form });
    const body = Buffer.from(await request.arrayBuffer());
    expect(parseMultipart(request.headers.get('content-type') ?? '', body)).toEqual({
      fields: { a: 'one\r\ntwo' },
      files: [
        {
          field: 'files[0]',
          name: 'ä "1".png',
          contentType: 'image/png',
          bytes: Buffer.from([0, 13, 10, 255]),
        },
      ],
    });
  });

  it('reads a name without quotes up to the semicolon', () => {
    const body =
      '--b\r\ncontent-disposition:form-data;name="x";filename=a b.txt\r\ncontent-type:text/plain\r\n\r\nc\r\n--b--\r\n';
    expect(parse(body).files).toEqual([
      { field: 'x', name: 'a b.txt', contentType: 'text/plain', bytes: Buffer.from('c') },
    ]);
  });

  it('refuses a form without end, boundary or name', () => {
    expect(() => parse('--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx')).toThrow('no end');
    expect(() => parse('--b\r\ncontent-type: text/plain\r\n\r\nx\r\n--b--')).toThrow('no name');
    expect(() => parseMultipart('multipart/form-data', Buffer.alloc(0))).toThrow('no boundary');
  });
});
