import type { Secret } from '../../../../lib/secret.ts';

/** Shorter texts occur in answers by chance. */
const MIN_BYTES = 8;
/** The scheme of an Authorization header. */
const SCHEME = /^[A-Za-z][A-Za-z0-9_-]* +(?=\S)/;

/** A form in which an answer can contain a secret. */
export interface EchoPattern {
  credentialId: string;
  /** The host for which the secret was lent. */
  host: string;
  bytes: Buffer;
}

/** Returns the forms of a secret: plain, percent-encoded, as JSON text, and base64 at each of the three offsets. */
export function echoPatterns(origin: Omit<EchoPattern, 'bytes'>, secret: Secret): EchoPattern[] {
  const forms = new Set(textsOf(secret.reveal()).flatMap(formsOf));
  return [...forms]
    .map((form) => ({ ...origin, bytes: Buffer.from(form) }))
    .filter(({ bytes }) => bytes.length >= MIN_BYTES);
}

/** The secret parts of a header value: the value without its scheme, and the password of Basic authentication. */
function textsOf(value: string): string[] {
  const withoutScheme = value.replace(SCHEME, '');
  if (!/^basic /i.test(value)) return [withoutScheme];
  const credentials = Buffer.from(withoutScheme, 'base64').toString();
  return [withoutScheme, credentials, credentials.slice(credentials.indexOf(':') + 1)];
}

function formsOf(text: string): string[] {
  if (Buffer.byteLength(text) < MIN_BYTES) return [];
  const percent = encodeURIComponent(text);
  const json = JSON.stringify(text).slice(1, -1);
  return [
    text,
    percent,
    percent.replace(/%../g, (code) => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
    json,
    json.replaceAll('/', '\\/'),
    ...[0, 1, 2].flatMap((offset) => base64At(text, offset)),
  ];
}

/** The base64 characters that depend on the text alone when `offset` other bytes are encoded before it. */
function base64At(text: string, offset: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const [from, to] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)];
  return (['base64', 'base64url'] as const).map((encoding) => bytes.toString(encoding).slice(from, to));
}
