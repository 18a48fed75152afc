/** The base URL of the Web API with a slash at its end. A configured URL without a path names the origin alone. */
export function webApiUrl(configured: string | undefined): string {
  if (configured === undefined) return 'https://slack.com/api/';
  const url = new URL(configured);
  if (url.pathname === '/') return new URL('/api/', url).href;
  return configured.endsWith('/') ? configured : `${configured}/`;
}

/**
 * Whether a URL that Slack has sent leads to Slack: to a host under slack.com with encryption, or to the configured host.
 * Only such URLs receive tokens, files and answers.
 */
export function isSlackUrl(text: string, apiUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, hostname, username } = new URL(text);
  if (username !== '') return false;
  const api = new URL(apiUrl);
  if (host === api.host) {
    const isEncrypted = protocol === 'https:' || protocol === 'wss:';
    return isEncrypted || (api.protocol === 'http:' && (protocol === 'http:' || protocol === 'ws:'));
  }
  const isOfSlack = hostname === 'slack.com' || hostname.endsWith('.slack.com');
  return isOfSlack && (protocol === 'https:' || protocol === 'wss:') && new URL(text).port === '';
}
