import fc from 'fast-check';
import { base64, PNG } from '../message-parts.ts';
import { odd } from './json-bodies.ts';

export const ABSENT = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
const PIXEL = { type: 'image', media_type: 'image/png', data: base64(PNG) };
const TEXT = { type: 'text', text: 'Hello' };

export const validContent = (uploadId: string) =>
  fc.constantFrom<unknown>(
    'Hello',
    [TEXT],
    [PIXEL, TEXT],
    [{ type: 'file', media_type: 'application/pdf', name: 'a.pdf', data: 'QQ==' }],
    [TEXT, { type: 'image', upload_id: uploadId }],
  );

const other = fc.base64String({ minLength: 4 }).filter((text) => !text.startsWith('iVBORw0KGgo'));
const binary = fc.string({ unit: 'binary' });
const badName = binary.map((text) => `${text}\u0001`);
const badPath = fc.oneof(
  binary.map((text) => `../${text}`),
  binary.map((text) => `/${text}`),
  binary.map((text) => `${text}\0`),
  fc.constantFrom('', '.', 'a//b', 'a/', 'absent.txt', 'x'.repeat(5_000), '.ahs-x'),
);

/** Image and file parts that match the schema and are refused. */
export const invalidPart: fc.Arbitrary<object> = fc.oneof(
  other.map((data) => ({ ...PIXEL, data })),
  binary.map((text) => ({ ...PIXEL, data: `${base64(PNG)}!${text}` })),
  fc.constantFrom('image/jpeg', 'image/gif', 'image/webp').map((media_type) => ({ ...PIXEL, media_type })),
  fc.constantFrom('', 'plain', 'text\r\nplain', 'a/b/c', 'text/ plain', '\0/a').map((media_type) => ({
    ...{ type: 'file', data: 'QQ==' },
    media_type,
  })),
  binary.map((path) => ({ ...PIXEL, path })),
  binary.map((upload_id) => ({ ...PIXEL, upload_id })),
  fc.constant({ type: 'image', media_type: 'image/png' }),
  fc.constant({ type: 'file', data: 'QQ==' }),
  badPath.map((path) => ({ type: 'file', path })),
  binary.map((text) => ({ type: 'image', upload_id: `upl_${text}` })),
  fc.constant({ type: 'file', upload_id: `upl_${ABSENT}` }),
  badName.map((name) => ({ ...PIXEL, name })),
);

/** Contents that match the schema and are refused. */
export const invalidContent = fc.oneof(
  fc
    .tuple(fc.array(fc.constantFrom(TEXT, PIXEL), { maxLength: 2 }), invalidPart, fc.nat({ max: 2 }))
    .map(([parts, part, at]) => parts.toSpliced(at, 0, part as typeof TEXT)),
  fc.constant(Array.from({ length: 33 }, () => PIXEL)),
  fc.constantFrom('\0', 'a\ud800').map((text) => [PIXEL, { type: 'text', text }]),
);

/** File parts of AI SDK that are refused. */
export const invalidSentPart: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({ type: fc.string(), text: odd }).filter(({ type }) => !/^(text|file|data-.*)$/s.test(type)),
  odd.filter((text) => typeof text !== 'string').map((text) => ({ type: 'text', text })),
  fc.tuple(odd, odd).map(([mediaType, filename]) => ({ type: 'file', mediaType, filename })),
  binary.map((url) => ({ type: 'file', mediaType: 'image/png', url })),
  other.map((data) => ({ type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${data}` })),
  binary.map((text) => ({
    type: 'file',
    mediaType: 'text/plain',
    url: `data:text/plain;base64,QQ==!${text}`,
  })),
  badName.map((filename) => ({
    ...{ type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,QQ==' },
    filename,
  })),
);
