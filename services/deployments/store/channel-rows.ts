import { storedSecret } from '../../../lib/db/sealing-check.ts';
import {
  type ChannelConfig,
  type ChannelIdentity,
  type CredentialSummary,
  defaultConfig,
  type Provider,
} from '../domain/channels/channel.ts';
import type { MovedPlaces } from '../domain/channels/moved-places.ts';
import type { Status } from '../domain/deployments.ts';

/** What the credentials of a channel are sealed for. */
const CREDENTIALS_CONTEXT = 'channel credentials of ';

export const credentialsContext = (deploymentId: string) => `${CREDENTIALS_CONTEXT}${deploymentId}`;

/** Stored credentials, of channels and of removals that are not finished: one of each whose key is none of $1. */
export const STORED_CREDENTIALS = (['channels', 'connections'] as const).map((table) =>
  storedSecret({
    name: `${table}.stored_credentials`,
    table,
    sealed: 'sealed_credentials',
    context: `'${CREDENTIALS_CONTEXT}' || deployment_id`,
  }),
);

/** The index of the bots of enabled channels. */
export const USED_BOT = 'channels_of_enabled_bots';

/** The settings and credentials of a channel. */
export interface StoredChannel {
  deploymentId: string;
  provider: Provider;
  config: ChannelConfig;
  /** The credentials as a JSON object of texts. */
  sealedCredentials: string;
  credentials: readonly CredentialSummary[];
  /** `<id of the key>.<digest of the bot token>`. Without a key id: of an earlier release. Null for http. */
  botFingerprint: string | null;
  /** Null before the first connection. */
  identity: ChannelIdentity | null;
}

/** A channel with the members of its deployment, for work on its events and posts. */
export interface Channel {
  deploymentId: string;
  /** Empty for a deleted channel, whose webhooks are removed from the product. */
  agentId: string;
  /** usr_… */
  createdBy: string;
  name: string;
  status: Status;
  revision: number;
  provider: Provider;
  config: ChannelConfig;
  sealedCredentials: string;
  identity: ChannelIdentity | null;
  movedPlaces: MovedPlaces;
}

export type StoredChannelRow = Omit<StoredChannel, 'config' | 'credentials' | 'identity'> & {
  config: string;
  credentials: string;
  identity: string | null;
};

export type ChannelRow = Omit<Channel, 'config' | 'identity' | 'movedPlaces'> & {
  config: string;
  identity: string | null;
  movedPlaces: string;
};

export function storedChannelOf({ config, credentials, identity, ...row }: StoredChannelRow): StoredChannel {
  const summaries: { name: string; hint: string; updatedAt: string }[] = JSON.parse(credentials);
  return {
    ...row,
    config: configOf(row.provider, config),
    credentials: summaries.map((one) => ({ ...one, updatedAt: new Date(one.updatedAt) })),
    identity: identityOf(identity),
  };
}

export function channelOf({ config, identity, movedPlaces, ...row }: ChannelRow): Channel {
  return {
    ...row,
    config: configOf(row.provider, config),
    identity: identityOf(identity),
    movedPlaces: JSON.parse(movedPlaces),
  };
}

/** Members that an earlier release did not store have their defaults. It also stored trustEmail of products without e-mails. */
function configOf(provider: Provider, text: string): ChannelConfig {
  const stored: ChannelConfig = { ...defaultConfig(provider), ...JSON.parse(text) };
  return { ...stored, trustEmail: stored.trustEmail && provider === 'slack' };
}

function identityOf(text: string | null): ChannelIdentity | null {
  return text === null ? null : JSON.parse(text);
}
