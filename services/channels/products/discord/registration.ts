import type { ChannelIdentity } from '../../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { ProductChannel } from '../product.ts';
import { ProductError } from '../product-error.ts';
import { COMMANDS } from './commands.ts';
import { INVALID_FORM } from './errors.ts';
import type { RestApi } from './rest-api.ts';

export interface Application {
  id: string;
  flags?: number;
  verify_key?: string;
  interactions_endpoint_url?: string | null;
}

interface BotUser {
  id: string;
  username: string;
}

export function readApplication(api: RestApi, signal: AbortSignal): Promise<Application> {
  return api.request<Application>('get', '/applications/@me', {}, signal);
}

/** Throws `unauthorized` for a token that is not one of the channel's application. */
export async function readIdentity(
  api: RestApi,
  applicationId: string,
  signal: AbortSignal,
): Promise<ChannelIdentity> {
  const bot = await api.request<BotUser>('get', '/users/@me', {}, signal);
  const application = await readApplication(api, signal);
  if (application.id !== applicationId)
    throw new ProductError('unauthorized', 'The token belongs to another application than application_id.');
  return {
    botId: bot.id,
    botProfileId: '',
    name: bot.username,
    appId: application.id,
    teamId: '',
    teamName: '',
  };
}

export async function register(
  api: RestApi,
  { config, callbackUrl }: ProductChannel,
  signal: AbortSignal,
): Promise<void> {
  const { id, interactions_endpoint_url: current } = await readApplication(api, signal);
  await api.request('put', `/applications/${id}/commands`, { body: COMMANDS }, signal);
  // With an endpoint, the gateway gets no interactions.
  const wanted = config.mode === 'http' ? callbackUrl : null;
  if ((current || null) !== wanted) await setEndpoint(api, wanted, signal);
}

/** Leaves an endpoint that another program has set. */
export async function unregister(
  api: RestApi,
  { callbackUrl }: ProductChannel,
  signal: AbortSignal,
): Promise<void> {
  const { id, interactions_endpoint_url: current } = await readApplication(api, signal);
  if (current === callbackUrl) await setEndpoint(api, null, signal);
  await api.request('put', `/applications/${id}/commands`, { body: [] }, signal);
}

/** Discord checks the endpoint before it answers: with a PING, and with one whose signature is wrong. */
async function setEndpoint(api: RestApi, url: string | null, signal: AbortSignal): Promise<void> {
  await api.request(
    'patch',
    '/applications/@me',
    {
      body: { interactions_endpoint_url: url },
      accept: ({ code }) => {
        if (code !== INVALID_FORM) return undefined;
        throw new ProductError(
          'refused',
          'Discord could not verify the callback URL. It must be reachable from the internet with https, and public_key must be that of the application.',
        );
      },
    },
    signal,
  );
}
