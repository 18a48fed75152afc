import { describe, expect, it } from 'vitest';
import type { Provider } from '../../../../services/deployments/domain/channels/channel.ts';
import { newConfig } from '../../../../services/deployments/domain/channels/config.ts';
import type { SetupFacts } from '../../../../services/deployments/domain/channels/setup/step.ts';
import { setupSteps } from '../../../../services/deployments/domain/channels/setup/steps.ts';

const CALLBACK = 'https://agents.example.org/api/v1/deployments/dep_1/callback';
const IDENTITY = { botId: 'U1', botProfileId: 'B1', name: 'helper', appId: '42', teamId: 'T1', teamName: '' };

function stepsOf(
  provider: Provider,
  facts: Partial<SetupFacts> & { request?: Parameters<typeof newConfig>[1] } = {},
) {
  const { request, ...more } = facts;
  return setupSteps(provider, {
    ...{ name: 'Support', config: newConfig(provider, request), callbackUrl: CALLBACK },
    ...{ credentialNames: [], applicationId: '', identity: null, connectionState: 'connecting' },
    ...{ hasDelivery: false, ...more },
  });
}

const step = (steps: ReturnType<typeof stepsOf>, name: string) => steps.find((one) => one.name === name);
const doneOf = (steps: ReturnType<typeof stepsOf>) =>
  steps.filter(({ done }) => done).map(({ name }) => name);

describe('setup of Slack', () => {
  const manifestOf = (request: Parameters<typeof newConfig>[1]) =>
    JSON.parse(step(stepsOf('slack', { request }), 'create_app')?.content ?? '');

  it('has a manifest with the scopes and events of a socket', () => {
    expect(manifestOf({})).toEqual({
      display_information: { name: 'Support' },
      features: {
        app_home: {
          home_tab_enabled: false,
          messages_tab_enabled: true,
          messages_tab_read_only_enabled: false,
        },
        bot_user: { display_name: 'Support', always_online: true },
        slash_commands: [
          {
            command: '/agent',
            description: expect.any(String),
            usage_hint: 'new | stop | status | link | unlink | help',
            should_escape: false,
          },
        ],
      },
      oauth_config: {
        scopes: {
          bot: [
            ...[
              'app_mentions:read',
              'channels:history',
              'chat:write',
              'commands',
              'files:read',
              'files:write',
            ],
            ...['groups:history', 'im:history', 'im:write', 'mpim:history', 'users:read'],
          ],
        },
      },
      settings: {
        event_subscriptions: {
          bot_events: ['app_mention', 'message.channels', 'message.groups', 'message.im', 'message.mpim'],
        },
        interactivity: { is_enabled: true },
        org_deploy_enabled: false,
        socket_mode_enabled: true,
        token_rotation_enabled: false,
      },
    });
  });

  it('has a manifest with the callback URL in the mode http', () => {
    const { features, settings } = manifestOf({ mode: 'http' });
    expect(features.slash_commands[0].url).toBe(CALLBACK);
    expect(settings).toMatchObject({
      event_subscriptions: { request_url: CALLBACK },
      interactivity: { request_url: CALLBACK },
      socket_mode_enabled: false,
    });
  });

  it('asks only for the scopes of the features that are used', () => {
    const { oauth_config: config } = manifestOf({ filesIn: false, filesOut: false, trustEmail: true });
    expect(config.scopes.bot).not.toContain('files:read');
    expect(config.scopes.bot).not.toContain('files:write');
    expect(config.scopes.bot).toContain('users:read.email');
  });

  it('shortens the name of the app as Slack requires', () => {
    const [first] = stepsOf('slack', { name: '😀'.repeat(100) });
    const manifest = JSON.parse(first?.content ?? '');
    expect(manifest.display_information.name).toBe('😀'.repeat(35));
    expect(manifest.features.bot_user.display_name).toBe('😀'.repeat(80));
  });

  it('turns green with the credentials, the first connection and the first message', () => {
    expect(doneOf(stepsOf('slack'))).toEqual([]);
    const credentialNames = ['app_token', 'bot_token'];
    expect(doneOf(stepsOf('slack', { credentialNames }))).toEqual(['create_app', 'install_app']);
    const connected = { credentialNames, identity: IDENTITY, connectionState: 'connected' } as const;
    const last = ['invite', 'first_message'];
    expect(doneOf(stepsOf('slack', connected))).toEqual(['create_app', 'install_app', 'app_token', 'tokens']);
    expect(doneOf(stepsOf('slack', { ...connected, hasDelivery: true })).slice(4)).toEqual(last);
    expect(step(stepsOf('slack', connected), 'invite')?.content).toBe('/invite @helper');
  });

  it('verifies the request URL in the mode http', () => {
    const steps = stepsOf('slack', { request: { mode: 'http' } });
    expect(steps.map(({ name }) => name)).not.toContain('app_token');
    expect(step(steps, 'request_url')?.content).toBe(CALLBACK);
  });
});

describe('setup of every product', () => {
  it.each([
    ['slack', { mode: 'socket' }, ['App-level token (app_token)', 'Bot token (bot_token)']],
    ['slack', { mode: 'http' }, ['Bot token (bot_token)', 'Signing secret (signing_secret)']],
    ['telegram', {}, ['Bot token (bot_token)']],
    ['discord', { mode: 'gateway' }, ['Application ID (application_id)', 'Bot token (bot_token)']],
    ['discord', { mode: 'http' }, ['Public key (public_key)']],
  ] as const)(
    'names the credentials of %s with %j as the console and the API do',
    (provider, request, names) => {
      const instructions = stepsOf(provider, { request }).map(({ instruction }) => instruction);
      for (const name of names) expect(instructions.join(' ')).toContain(name);
    },
  );
});

describe('setup of Telegram', () => {
  it('has the steps with BotFather', () => {
    const steps = stepsOf('telegram', { identity: IDENTITY, credentialNames: ['bot_token'] });
    expect(steps.map(({ name }) => name)).toEqual(['create_bot', 'tokens', 'connect', 'first_message']);
    expect(step(steps, 'create_bot')).toMatchObject({ content: '/newbot', url: 'https://t.me/BotFather' });
    expect(step(steps, 'first_message')?.url).toBe('https://t.me/helper');
    expect(doneOf(steps)).toEqual(['create_bot', 'tokens']);
  });

  it('turns privacy off when the bot reads all messages of groups', () => {
    const steps = stepsOf('telegram', { request: { respondTo: 'all' } });
    expect(step(steps, 'group_privacy')?.content).toBe('/setprivacy');
  });
});

describe('setup of Discord', () => {
  const facts = { applicationId: '1234567890' };

  it('has an invitation with exactly the permissions of the channel', () => {
    const url = new URL(step(stepsOf('discord', facts), 'invite')?.url ?? '');
    expect(url.origin + url.pathname).toBe('https://discord.com/oauth2/authorize');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: '1234567890',
      scope: 'bot applications.commands',
      // View channels, send messages, attach files, read the history, create threads and send messages in them.
      permissions: String(2 ** 10 + 2 ** 11 + 2 ** 15 + 2 ** 16 + 2 ** 35 + 2 ** 38),
    });
    const withoutFiles = stepsOf('discord', { ...facts, request: { filesOut: false } });
    expect(step(withoutFiles, 'invite')?.url).toContain(
      `permissions=${2 ** 10 + 2 ** 11 + 2 ** 16 + 2 ** 35 + 2 ** 38}`,
    );
  });

  it('has no invitation without an application id', () => {
    expect(step(stepsOf('discord'), 'invite')).toMatchObject({ url: '', content: '', done: false });
  });

  it('names the privileged intent of the gateway, or the endpoint of interactions', () => {
    const gateway = stepsOf('discord', { ...facts, connectionState: 'connected' });
    expect(step(gateway, 'intents')).toMatchObject({
      done: true,
      url: 'https://discord.com/developers/applications/1234567890/bot',
    });
    const http = stepsOf('discord', { ...facts, request: { mode: 'http' } });
    expect(step(http, 'interactions_endpoint')).toMatchObject({ content: CALLBACK, done: false });
    expect(step(http, 'first_message')?.instruction).toContain('/ask');
  });
});

describe('setup of another product', () => {
  it('shows how requests are signed, sent and pulled', () => {
    const steps = stepsOf('http', { credentialNames: ['shared_secret'] });
    expect(step(steps, 'sign')?.content).toContain('<webhook-id>.<webhook-timestamp>.<payload>');
    expect(JSON.parse(step(steps, 'first_message')?.content ?? '')).toMatchObject({ type: 'message' });
    expect(step(steps, 'pull')?.content).toBe(
      'https://agents.example.org/api/v1/deployments/dep_1/posts?after=&wait_seconds=60',
    );
    expect(doneOf(steps)).toEqual(['secret']);
    expect(doneOf(stepsOf('http', { credentialNames: ['shared_secret'], hasDelivery: true }))).toHaveLength(
      4,
    );
  });
});
