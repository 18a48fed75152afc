const OFFICIAL = 'https://discord.com/api';
const CDN_HOSTS: readonly string[] = ['cdn.discordapp.com', 'media.discordapp.net'];

/** The base URL of the REST API without a version and without a slash at its end. */
export function restApiUrl(configured: string | undefined): string {
  if (configured === undefined) return OFFICIAL;
  const url = new URL(configured);
  if (url.pathname === '/') return new URL('/api', url).href;
  return configured.replace(/\/+$/, '');
}

/** Whether the token may be sent to a gateway: one under discord.gg with encryption, or one at the configured host. */
export function isGatewayUrl(text: string, apiUrl: string): boolean {
  return leadsTo(text, apiUrl, { encrypted: 'wss:', plain: 'ws:' }, (host) => host.endsWith('.discord.gg'));
}

/** Whether Discord itself stores a file. */
export function isFileUrl(text: string, apiUrl: string): boolean {
  return leadsTo(text, apiUrl, { encrypted: 'https:', plain: 'http:' }, (host) => CDN_HOSTS.includes(host));
}

function leadsTo(
  text: string,
  apiUrl: string,
  { encrypted, plain }: { encrypted: string; plain: string },
  isOfDiscord: (hostname: string) => boolean,
): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, hostname, port, username } = new URL(text);
  if (username !== '') return false;
  const api = new URL(apiUrl);
  if (host === api.host) return protocol === encrypted || (api.protocol === 'http:' && protocol === plain);
  return protocol === encrypted && port === '' && isOfDiscord(hostname);
}
