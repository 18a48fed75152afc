import { BASE_URL, parseEndpoints } from '../../lib/env/endpoints.ts';
import { type Setting, type Settings, setting } from '../../lib/env.ts';
import type { PrivateHost } from '../../lib/outbound/private-hosts.ts';

const MIB = 1024 * 1024;

/** The products that have an API of their own. */
const API_PRODUCTS = ['slack', 'telegram', 'discord'] as const;
type ApiUrls = Partial<Record<(typeof API_PRODUCTS)[number], string>>;

const apiUrls: Setting<ApiUrls> = {
  ...setting.optionalText(
    'SERVICE_CHANNELS_API_URLS',
    'Base URLs of messaging products instead of the official ones, for example for a self-hosted server of the Telegram Bot ' +
      'API: telegram=http://127.0.0.1:8081. These hosts may have private addresses.',
  ),
  expected: `name=url pairs separated by commas; names ${API_PRODUCTS.join(', ')}; each url is ${BASE_URL}`,
  parse: parseApiUrls,
  fallback: {},
};

export const settings = {
  slots: setting.integer(
    'SERVICE_CHANNELS_SLOTS',
    { min: 0, max: 100_000, unit: 'conversations' },
    {
      fallback: 1_000,
      about:
        'Maximum number of conversations that one channel worker follows at the same time. Further conversations wait for ' +
        'another worker or a free slot. A worker with 0 slots does no work for channels.',
    },
  ),
  apiUrls,
  proxy: setting.optionalSecretUrl(
    'SERVICE_CHANNELS_PROXY',
    ['http:'],
    'URL of an HTTP proxy for the connections of channel workers to messaging products. A connection that cannot use a proxy ' +
      'fails and shows the reason. Without it, channel workers connect directly.',
  ),
  fileMaxBytes: setting.integer(
    'SERVICE_CHANNEL_FILE_MAX_BYTES',
    { min: 0, max: 1024 * MIB, unit: 'bytes' },
    {
      fallback: 25 * MIB,
      about:
        'Longest file that channels pass between a messaging product and a workspace, in bytes. A message names a longer file ' +
        'and the reason. Products have limits of their own, such as 20 MiB for files from Telegram.',
    },
  ),
};

export type ChannelsConfig = Settings<typeof settings> & {
  /** Private hosts that files in messages may come from. */
  outboundPrivateHosts?: readonly PrivateHost[] | undefined;
};

/** The message of an error follows the name of the setting. */
function parseApiUrls(text: string): ApiUrls {
  const urls = parseEndpoints(text, []);
  const unknown = Object.keys(urls).find((name) => !API_PRODUCTS.some((product) => product === name));
  if (unknown !== undefined) throw new Error(`names ${unknown}, which is none of ${API_PRODUCTS.join(', ')}`);
  return urls;
}
