import type { APIApplicationCommand } from 'discord.js';
import { type DiscordApplication, PRIVILEGED_INTENTS } from '../application.ts';
import { DiscordError, foreignApplication, invalidForm, missingAccess } from '../errors.ts';
import { readBody } from '../message-body.ts';
import { PERMISSIONS } from '../objects.ts';
import type { RestCall, Route } from './call.ts';

const MAX_IDENTIFIES = 1000;
const MAX_COMMANDS = 100;

/** Flags of the application tell which privileged intents are enabled. */
function flagsOf({ privilegedIntents }: DiscordApplication): number {
  const flag = (intent: number, bit: number) => (privilegedIntents & intent ? bit : 0);
  const { presences, members, messageContent } = PRIVILEGED_INTENTS;
  return flag(presences, 1 << 13) | flag(members, 1 << 15) | flag(messageContent, 1 << 19);
}

function applicationObject(application: DiscordApplication): object {
  const { id, bot, publicKey, interactionsEndpointUrl } = application;
  return {
    id,
    name: bot.username,
    icon: null,
    description: '',
    bot_public: true,
    bot_require_code_grant: false,
    verify_key: publicKey,
    flags: flagsOf(application),
    interactions_endpoint_url: interactionsEndpointUrl,
    integration_types_config: { 0: {} },
    bot,
    owner: null,
    team: null,
  };
}

async function patchApplication({ application, interactions, request }: RestCall): Promise<object> {
  const { json } = readBody<{ interactions_endpoint_url?: string | null }>(request);
  const url = json.interactions_endpoint_url;
  if (url === undefined) return applicationObject(application);
  const isUsable =
    url === null ||
    url === '' ||
    (URL.canParse(url) && (await interactions.validateEndpoint(application, url)));
  if (!isUsable)
    throw invalidForm(
      'interactions_endpoint_url',
      'APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID',
      'The specified interactions endpoint url could not be verified.',
    );
  application.interactionsEndpointUrl = url || null;
  return applicationObject(application);
}

/** Returns where the commands of a route are stored. */
function scopeOf({ state, application, part }: RestCall): string {
  if (part('application') !== application.id) throw foreignApplication();
  const guild = part('guild');
  if (guild === '') return 'global';
  if (!state.guilds.get(guild)?.applications.has(application)) throw missingAccess();
  return guild;
}

function putCommands(call: RestCall): APIApplicationCommand[] {
  const { state, application, request } = call;
  const scope = scopeOf(call);
  const { json } = readBody<Partial<APIApplicationCommand>[]>(request);
  if (!Array.isArray(json)) throw new DiscordError(400, 50035, 'Invalid Form Body');
  if (json.length > MAX_COMMANDS)
    throw new DiscordError(400, 30032, 'Maximum number of application commands reached (100)');
  const before = application.commands.get(scope) ?? [];
  const commands = json.map((command, index) => {
    const { name = '', description = '', type = 1 } = command;
    if (type === 1 && (!/^[-_'\p{L}\p{N}]{1,32}$/u.test(name) || name !== name.toLowerCase()))
      throw invalidForm(`${index}.name`, 'APPLICATION_COMMAND_INVALID_NAME', 'Command name is invalid');
    if (type === 1 && (description.length < 1 || description.length > 100))
      throw invalidForm(
        `${index}.description`,
        'BASE_TYPE_BAD_LENGTH',
        'Must be between 1 and 100 in length.',
      );
    // A command keeps its id when it is replaced by one of the same name.
    const id = before.find((one) => one.name === name && one.type === type)?.id ?? state.nextId();
    return {
      ...command,
      ...{ id, name, description, type, application_id: application.id, version: state.nextId() },
      ...{ default_member_permissions: null, nsfw: false, ...(scope !== 'global' && { guild_id: scope }) },
    } as unknown as APIApplicationCommand;
  });
  application.commands.set(scope, commands);
  return commands;
}

const COMMAND_PATHS = [
  '/applications/:application/commands',
  '/applications/:application/guilds/:guild/commands',
];

export const APPLICATION_ROUTES: Route[] = [
  { method: 'GET', path: '/gateway', isOpen: true, run: ({ gatewayUrl }) => ({ url: gatewayUrl() }) },
  {
    method: 'GET',
    path: '/gateway/bot',
    run: ({ application, gatewayUrl }) => ({
      url: gatewayUrl(),
      shards: 1,
      session_start_limit: {
        total: MAX_IDENTIFIES,
        remaining: application.remainingIdentifies,
        reset_after: 86_400_000,
        max_concurrency: 1,
      },
    }),
  },
  { method: 'GET', path: '/users/@me', run: ({ application }) => application.bot },
  {
    method: 'GET',
    path: '/users/@me/guilds',
    run: ({ state, application }) =>
      [...state.guilds.values()]
        .filter((guild) => guild.applications.has(application))
        .map(({ id, name }) => ({
          id,
          name,
          icon: null,
          owner: false,
          permissions: PERMISSIONS,
          features: [],
        })),
  },
  { method: 'GET', path: '/applications/@me', run: ({ application }) => applicationObject(application) },
  { method: 'PATCH', path: '/applications/@me', run: patchApplication },
  ...COMMAND_PATHS.flatMap((path): Route[] => [
    { method: 'GET', path, run: (call) => call.application.commands.get(scopeOf(call)) ?? [] },
    { method: 'PUT', path, run: putCommands },
  ]),
];
