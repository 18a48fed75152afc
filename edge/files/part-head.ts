import { refuse } from '../../lib/errors.ts';

/** The name and file name of a part of a multipart/form-data body. */
export interface PartHead {
  name: string;
  /** Undefined when the part is not a file. */
  fileName: string | undefined;
}

/** The headers of a part by lower-case name. The values are Latin-1: each character is one byte. */
export type PartHeaders = Readonly<Record<string, readonly string[] | undefined>>;

const PARAMETER = /[ \t]*;[ \t]*([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*))/sy;
const TRAILING = /[ \t]*;?[ \t]*$/y;
const EXTENDED = /^utf-8'[^']*'((?:%[0-9a-f]{2}|[!#$&+.^_`|~\w-])*)$/i;
/** Transfer encodings that leave the content unchanged. */
const IDENTITY = /^(7bit|8bit|binary)$/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the head of a part (https://www.rfc-editor.org/rfc/rfc7578). Missing, repeated and ambiguous values are refused with
 * INVALID_REQUEST, so that no part is skipped silently.
 */
export function readPartHead(headers: PartHeaders): PartHead {
  const dispositions = headers['content-disposition'] ?? [];
  const [disposition = ''] = dispositions;
  if (dispositions.length !== 1) throw malformed('A part must have one Content-Disposition header.');
  if (headers['content-transfer-encoding']?.some((encoding) => !IDENTITY.test(encoding)))
    throw malformed('A Content-Transfer-Encoding of a part is not supported.');
  const parameters = readParameters(disposition);
  const name = parameters.get('name');
  if (name === undefined) throw malformed('A part has no name.');
  const extended = parameters.get('filename*');
  return { name, fileName: extended === undefined ? parameters.get('filename') : decodeExtended(extended) };
}

function readParameters(disposition: string): Map<string, string> {
  const type = /^form-data(?=[ \t;]|$)/i.exec(disposition)?.[0];
  if (type === undefined) throw malformed('The Content-Disposition of a part must be form-data.');
  const parameters = new Map<string, string>();
  let offset = type.length;
  for (;;) {
    PARAMETER.lastIndex = offset;
    const [all, name = '', quoted, token = ''] = PARAMETER.exec(disposition) ?? [];
    if (all === undefined) break;
    const key = name.toLowerCase();
    if (parameters.has(key))
      throw malformed(`The Content-Disposition of a part has "${key}" more than once.`);
    parameters.set(key, quoted === undefined ? decode(token) : unquote(quoted));
    offset += all.length;
  }
  TRAILING.lastIndex = offset;
  if (!TRAILING.test(disposition)) throw malformed('The Content-Disposition of a part is malformed.');
  return parameters;
}

/**
 * Browsers write a quote and line breaks as %22, %0A and %0D and nothing else (https://html.spec.whatwg.org, "multipart
 * form data"); others put a backslash before quotes and backslashes.
 */
function unquote(text: string): string {
  return decode(text.replace(/\\(["\\])/g, '$1')).replace(/%(22|0a|0d)/gi, (escaped) =>
    decodeURIComponent(escaped),
  );
}

function decode(bytes: string): string {
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    throw malformed('A name in the body is not UTF-8.');
  }
}

/** https://www.rfc-editor.org/rfc/rfc8187 */
function decodeExtended(value: string): string {
  try {
    return decodeURIComponent(EXTENDED.exec(value)?.[1] ?? '%');
  } catch {
    throw malformed('A "filename*" does not have the form UTF-8\'\'percent-encoded.');
  }
}

export function malformed(message: string) {
  return refuse('INVALID_REQUEST', message, { details: [{ pointer: '', message }] });
}
