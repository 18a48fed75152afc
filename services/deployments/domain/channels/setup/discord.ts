import {
  DISCORD_SCOPES,
  discordPermissionSet,
  discordPermissions,
} from '../../../../../lib/product-permissions.ts';
import { credential } from './credential-labels.ts';
import { botOf, plainText, type SetupFacts, type SetupStep, step } from './step.ts';

const APPLICATIONS_URL = 'https://discord.com/developers/applications';

export function discordSteps(facts: SetupFacts): SetupStep[] {
  const { config, credentialNames, applicationId, identity, connectionState, hasDelivery } = facts;
  const usesGateway = config.mode === 'gateway';
  const isConnected = connectionState === 'connected';
  const page = (name: string) => ({
    url: applicationId ? `${APPLICATIONS_URL}/${applicationId}/${name}` : APPLICATIONS_URL,
  });
  const invitation = invitationUrl(facts);
  return [
    step('create_app', 'Create an application.', credentialNames.includes('application_id'), {
      url: APPLICATIONS_URL,
    }),
    step(
      'tokens',
      usesGateway
        ? `Set the application id of General Information as ${credential('application_id')}, and the token of Bot as ${credential('bot_token')}.`
        : `Set the application id of General Information as ${credential('application_id')}, its public key as ${credential('public_key')}, and the token of Bot as ${credential('bot_token')}.`,
      identity !== null,
      page('information'),
    ),
    ...(usesGateway
      ? [step('intents', 'Turn on the Message Content Intent under Bot.', isConnected, page('bot'))]
      : [
          step(
            'interactions_endpoint',
            'Wait until the channel is registered as the interactions endpoint URL of the application.',
            isConnected,
            { ...page('information'), ...plainText(facts.callbackUrl) },
          ),
        ]),
    step(
      'invite',
      applicationId
        ? 'Add the bot to a server with this link.'
        : `Set ${credential('application_id')}, and then add the bot to a server with the link that is shown here.`,
      hasDelivery,
      invitation ? { url: invitation, ...plainText(invitation) } : {},
    ),
    step(
      'first_message',
      usesGateway
        ? `Write a message that mentions ${botOf(facts)}.`
        : `Send the command /ask to ${botOf(facts)}.`,
      hasDelivery,
    ),
  ];
}

/** The invitation with exactly the permissions that the channel uses. Empty without an application id. */
export function invitationUrl({ applicationId, config }: SetupFacts): string {
  if (!applicationId) return '';
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: DISCORD_SCOPES.join(' '),
    permissions: discordPermissionSet(discordPermissions(config)),
  });
  return `https://discord.com/oauth2/authorize?${query}`;
}
