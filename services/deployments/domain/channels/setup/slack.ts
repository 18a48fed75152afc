import {
  SLACK_BOT_EVENTS,
  SLACK_SOCKET_SCOPE,
  slackBotScopes,
} from '../../../../../lib/product-permissions.ts';
import { credential } from './credential-labels.ts';
import { botOf, type SetupFacts, type SetupStep, step } from './step.ts';

const APPS_URL = 'https://api.slack.com/apps';
const MAX_APP_NAME = 35;
const MAX_BOT_NAME = 80;
/** The command of all bots of this service. Slack adds the words behind it. */
const COMMAND = '/agent';

export function slackSteps(facts: SetupFacts): SetupStep[] {
  const { config, credentialNames, identity, connectionState, hasDelivery } = facts;
  const usesSocket = config.mode === 'socket';
  const hasToken = credentialNames.includes('bot_token');
  const manifest = {
    url: `${APPS_URL}?new_app=1`,
    content: slackManifest(facts),
    contentType: 'application/json',
  };
  const isConnected = connectionState === 'connected';
  return [
    step('create_app', 'Create an app from a manifest, and paste this manifest.', hasToken, manifest),
    step('install_app', 'Install the app in your workspace under OAuth & Permissions.', hasToken, {
      url: APPS_URL,
    }),
    ...(usesSocket
      ? [
          step(
            'app_token',
            `Generate an app-level token with the scope ${SLACK_SOCKET_SCOPE} under Basic Information, and set it as ${credential('app_token')}.`,
            credentialNames.includes('app_token') && (isConnected || identity !== null),
            { url: APPS_URL },
          ),
        ]
      : []),
    step(
      'tokens',
      usesSocket
        ? `Set the bot user OAuth token of OAuth & Permissions as ${credential('bot_token')}.`
        : `Set the bot user OAuth token of OAuth & Permissions as ${credential('bot_token')}, and the signing secret of Basic Information as ${credential('signing_secret')}.`,
      identity !== null,
      { url: APPS_URL },
    ),
    ...(usesSocket
      ? []
      : [
          step(
            'request_url',
            'Under Event Subscriptions, choose Retry beside the request URL until Slack shows it as verified.',
            hasDelivery,
            { url: APPS_URL, content: facts.callbackUrl, contentType: 'text/plain' },
          ),
        ]),
    step('invite', `Invite ${botOf(facts)} to a channel, or open a direct message with it.`, hasDelivery, {
      ...(identity?.name ? { content: `/invite @${identity.name}`, contentType: 'text/plain' } : {}),
    }),
    step('first_message', `Write a message that mentions ${botOf(facts)}.`, hasDelivery),
  ];
}

/** The manifest of the app with exactly the scopes and events that the channel uses, as JSON. */
export function slackManifest({ name, config, callbackUrl }: SetupFacts): string {
  const usesSocket = config.mode === 'socket';
  const requestUrl = usesSocket ? {} : { request_url: callbackUrl };
  const command = {
    command: COMMAND,
    ...(usesSocket ? {} : { url: callbackUrl }),
    description: 'Controls the conversation with the agent',
    usage_hint: 'new | stop | status | link | unlink | help',
    should_escape: false,
  };
  const manifest = {
    display_information: { name: shortened(name, MAX_APP_NAME) },
    features: {
      app_home: {
        home_tab_enabled: false,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: false,
      },
      bot_user: { display_name: shortened(name, MAX_BOT_NAME), always_online: true },
      slash_commands: [command],
    },
    oauth_config: { scopes: { bot: slackBotScopes(config) } },
    settings: {
      event_subscriptions: { ...requestUrl, bot_events: SLACK_BOT_EVENTS },
      interactivity: { is_enabled: true, ...requestUrl },
      org_deploy_enabled: false,
      socket_mode_enabled: usesSocket,
      token_rotation_enabled: false,
    },
  };
  return JSON.stringify(manifest, undefined, 2);
}

function shortened(text: string, maxCharacters: number): string {
  return [...text].slice(0, maxCharacters).join('').trim();
}
