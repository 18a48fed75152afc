export interface UploadedFile {
  /** The name of the form field. */
  field: string;
  name: string;
  contentType: string;
  bytes: Buffer;
}

export interface MultipartForm {
  fields: Record<string, string>;
  files: UploadedFile[];
}

const BLANK_LINE = Buffer.from('\r\n\r\n');

/**
 * Parses a `multipart/form-data` body. Unlike parsers of frameworks, it reads a name without quotes up to the next
 * semicolon, because grammY sends names of files so and the product keeps their spaces. Throws if the body is malformed.
 */
export function parseMultipart(contentType: string, body: Buffer): MultipartForm {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) throw new Error('the form has no boundary');
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter has no line before it.
  const source = Buffer.concat([Buffer.from('\r\n'), body]);
  const form: MultipartForm = { fields: {}, files: [] };
  let start = source.indexOf(delimiter);
  for (;;) {
    if (start < 0) throw new Error('the form has no end');
    start += delimiter.length;
    if (source.toString('latin1', start, start + 2) === '--') return form;
    const end = source.indexOf(delimiter, start);
    if (end >= 0) addPart(form, source.subarray(start + 2, end));
    start = end;
  }
}

function addPart(form: MultipartForm, part: Buffer): void {
  const end = part.indexOf(BLANK_LINE);
  if (end < 0) throw new Error('a part of the form has no content');
  const headers = part.toString('utf8', 0, end);
  const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? '';
  const field = parameter(disposition, 'name');
  if (field === undefined) throw new Error('a part of the form has no name');
  const bytes = part.subarray(end + BLANK_LINE.length);
  const name = parameter(disposition, 'filename');
  if (name === undefined) {
    form.fields[field] = bytes.toString();
    return;
  }
  const type = /^content-type:\s*(.*)$/im.exec(headers)?.[1]?.trim();
  form.files.push({ field, name, contentType: type ?? 'application/octet-stream', bytes });
}

function parameter(disposition: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^;]*))`, 'i').exec(disposition);
  return (match?.[1] ?? match?.[2]?.trim())?.replaceAll('%22', '"');
}
