import type { FieldProblems } from '../../../../../lib/field-problems.ts';
import type { InboundFile } from '../../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { inboundFile } from '../inbound-event.ts';
import type { MemberReader } from './members.ts';

const MAX_FILES = 32;
const MAX_URL = 4_096;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Reads the files of a message: each has either a URL or its bytes. */
export function readFiles(value: unknown, problems: FieldProblems, members: MemberReader): InboundFile[] {
  if (value === undefined) return [];
  return members.list(value, '/message/files', MAX_FILES).map((item, index) => {
    const pointer = `/message/files/${index}`;
    const file = members.object(item, pointer, ['name', 'url', 'content_base64']);
    const name = members.text(file.name, `${pointer}/name`, { min: 1, max: 255 });
    if ((file.url === undefined) === (file.content_base64 === undefined))
      problems.add(pointer, 'must have either url or content_base64');
    const url = members.optionalText(file.url, `${pointer}/url`, { min: 1, max: MAX_URL });
    if (url !== '' && !isWebAddress(url)) problems.add(`${pointer}/url`, 'must be an http or https URL');
    const encoded = members.optionalText(file.content_base64, `${pointer}/content_base64`, {});
    const isEncoded = encoded.length % 4 === 0 && BASE64.test(encoded);
    if (!isEncoded) problems.add(`${pointer}/content_base64`, 'must be Base64');
    const content = isEncoded ? Buffer.from(encoded, 'base64') : Buffer.alloc(0);
    return inboundFile({ name, url, size: content.length, content });
  });
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
