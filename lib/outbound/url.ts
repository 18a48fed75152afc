import { OutboundError } from './outbound-error.ts';

/** Returns the URL without the trailing dot of its host. Throws OutboundError; its message does not contain the text. */
export function readUrl(text: string | URL): URL {
  if (!URL.canParse(String(text))) throw new OutboundError('url_refused', 'The text is not a URL.');
  const url = new URL(String(text));
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new OutboundError('url_refused', 'The URL must begin with https://.');
  if (url.username !== '' || url.password !== '')
    throw new OutboundError('url_refused', 'The URL must not contain a user name or password.');
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  if (url.hostname === '' || url.hostname.endsWith('.') || url.hostname.includes('..'))
    throw new OutboundError('url_refused', 'The URL has no valid host name.');
  return url;
}
