import { Type } from 'typebox';
import { CHANNEL_PROVIDERS } from '../../../lib/event-types.ts';
import type { ChannelLink, GetLinkCodeResponse } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { id, nullable, serializeTime, text, time } from '../common.ts';

export const LinkShape = Type.Object(
  {
    link_id: id('lnk', 'the link'),
    provider: Type.Enum([...CHANNEL_PROVIDERS]),
    team: nullable(text('The workspace of the product.', { examples: ['T024BE7LD'] })),
    external_id: text('The account at the product.', { examples: ['U024BE7LH'] }),
    external_name: text('Its display name.', { examples: ['Ada'] }),
    user_id: id('usr', 'the user'),
    how: Type.Enum(['confirmed', 'email', 'administrator']),
    created_at: time('The creation time.'),
  },
  { title: 'ChannelLink' },
);

export const LinkCodeShape = Type.Object(
  {
    provider: Type.Enum([...CHANNEL_PROVIDERS]),
    team: nullable(text('The workspace of the product.', { examples: ['T024BE7LD'] })),
    external_id: text('The account that will be linked.', { examples: ['U024BE7LH'] }),
    external_name: text('Its display name.', { examples: ['Ada'] }),
    deployment_name: text('The name of the channel.', { examples: ['Support in Slack'] }),
    expires_at: time('The end of the code.'),
  },
  { title: 'LinkCode' },
);

export function serializeLink(link: ChannelLink | undefined) {
  return {
    link_id: link?.linkId,
    provider: link?.provider,
    team: link?.team || null,
    external_id: link?.externalId,
    external_name: link?.externalName,
    user_id: link?.userId,
    how: link?.how,
    created_at: serializeTime(link?.createdAt),
  };
}

export function serializeLinkCode(code: GetLinkCodeResponse) {
  return {
    provider: code.provider,
    team: code.team || null,
    external_id: code.externalId,
    external_name: code.externalName,
    deployment_name: code.deploymentName,
    expires_at: serializeTime(code.expiresAt),
  };
}
