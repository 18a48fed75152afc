import { discordPermissionSet, discordPermissions } from '../../../../lib/product-permissions.ts';
import type { ChannelCheck } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { ProductChannel } from '../product.ts';
import { ProductError } from '../product-error.ts';
import { COMMANDS } from './commands.ts';
import { publicCredentials } from './credentials.ts';
import { type Application, readApplication } from './registration.ts';
import type { RestApi } from './rest-api.ts';

/** Flags of an application: the intent is approved, or is turned on for fewer than 100 servers. */
const MESSAGE_CONTENT = (1 << 18) | (1 << 19);
const ADMINISTRATOR = 1n << 3n;
/** The servers of one page. */
const MAX_SERVERS = 100;
const MAX_NAMED = 5;

interface Server {
  name: string;
  permissions?: string;
}

/** Compares the application at Discord with the channel. The token is the only check if Discord refuses it. */
export async function probe(
  api: RestApi,
  channel: ProductChannel,
  signal: AbortSignal,
): Promise<ChannelCheck[]> {
  let application: Application;
  try {
    application = await readApplication(api, signal);
  } catch (error) {
    if (!(error instanceof ProductError)) throw error;
    return [check('token', error.message)];
  }
  const { applicationId, publicKey } = publicCredentials(channel);
  const isHttp = channel.config.mode === 'http';
  const isSame = application.id === applicationId;
  const commands = await api.request<{ name: string }[]>(
    'get',
    `/applications/${application.id}/commands`,
    {},
    signal,
  );
  const query = { limit: String(MAX_SERVERS) };
  const servers = await api.request<Server[]>('get', '/users/@me/guilds', { query }, signal);
  return [
    check('token', ''),
    check('application_id', isSame ? '' : 'The token belongs to another application than application_id.'),
    ...(isHttp ? [check('public_key', keyProblem(application, publicKey))] : []),
    ...(isHttp ? [] : [check('intents', intentProblem(application))]),
    check('interactions_endpoint', endpointProblem(application, channel)),
    check('commands', commandProblem(commands)),
    check('permissions', permissionProblem(servers, channel)),
  ];
}

function check(name: string, problem: string): ChannelCheck {
  return { name, ok: problem === '', problem };
}

function keyProblem({ verify_key: expected = '' }: Application, key: string): string {
  return expected.toLowerCase() === key.toLowerCase() ? '' : 'public_key is not that of the application.';
}

export function intentProblem({ flags = 0 }: Pick<Application, 'flags'>): string {
  if (flags & MESSAGE_CONTENT) return '';
  return 'The Message Content Intent is off. Turn it on under Bot in the developer portal.';
}

/** Names the host of a foreign endpoint only: its path can contain a secret of another program. */
function endpointProblem({ interactions_endpoint_url: url }: Application, channel: ProductChannel): string {
  const wanted = channel.config.mode === 'http' ? channel.callbackUrl : '';
  if ((url ?? '') === wanted) return '';
  if (!url) return 'No interactions endpoint is set. Save the channel again.';
  const host = URL.canParse(url) ? new URL(url).host : 'an unknown host';
  return `Discord sends commands and clicks to another address, at ${host}. Save the channel again.`;
}

function commandProblem(commands: readonly { name: string }[]): string {
  const missing = COMMANDS.filter(({ name }) => !commands.some((one) => one.name === name));
  if (missing.length === 0) return '';
  return `The commands ${missing.map(({ name }) => `/${name}`).join(', ')} are missing. Save the channel again.`;
}

/** Settings of single channels can take permissions, which is not checked here. */
export function permissionProblem(
  servers: readonly Server[],
  { config }: Pick<ProductChannel, 'config'>,
): string {
  if (servers.length === 0) return 'The bot is on no server. Add it with the invitation link of the setup.';
  const needed = discordPermissions({ filesOut: config.filesOut ?? true });
  const problems = servers.flatMap(({ name, permissions = '0' }) => {
    const granted = BigInt(permissions);
    if (granted & ADMINISTRATOR) return [];
    const missing = needed.filter((one) => (granted & BigInt(discordPermissionSet([one]))) === 0n);
    return missing.length > 0 ? [`On the server ${name}, the bot lacks ${missing.join(', ')}.`] : [];
  });
  return problems.slice(0, MAX_NAMED).join(' ');
}
