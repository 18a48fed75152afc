import { FieldProblems } from '../../../../lib/field-problems.ts';
import { isId } from '../../../../lib/ids.ts';
import { type ChannelConfig, defaultConfig, MODES, PROVIDERS, type Provider } from './channel.ts';

/** The settings in a request, as in the contract. Absent members have their defaults, or are unchanged. */
interface ConfigRequest {
  mode?: string | undefined;
  respondTo?: string | undefined;
  access?: AccessRequest | undefined;
  owner?: string | undefined;
  approvers?: { policy: string; userIds: readonly string[] } | undefined;
  busy?: string | undefined;
  edits?: string | undefined;
  showTools?: string | undefined;
  perChat?: boolean | undefined;
  filesIn?: boolean | undefined;
  filesOut?: boolean | undefined;
  trustEmail?: boolean | undefined;
  /** 0 removes it. */
  newSessionAfterIdleSeconds?: number | undefined;
  /** Empty removes it. */
  greeting?: string | undefined;
}

interface AccessRequest {
  mode?: string | undefined;
  people?: { ids: readonly string[] } | undefined;
  places?: { ids: readonly string[] } | undefined;
  allowExternal?: boolean | undefined;
}

/** Enumerations of a request are unchecked text. */
type Unchecked = { [Member in keyof ChannelConfig]: ChannelConfig[Member] extends string ? string : unknown };

const MAX_IDS = 1_000;
const MAX_ID = 200;
const MAX_APPROVERS = 100;
const MIN_IDLE_SECONDS = 60;
const MAX_IDLE_SECONDS = 31_536_000;
const MAX_GREETING = 2_000;

export function checkProvider(provider: string): Provider {
  const problems = new FieldProblems();
  problems.oneOf('/provider', provider, PROVIDERS);
  problems.throwIfAny();
  return provider as Provider;
}

/** Returns the settings of a new channel. Refused with INVALID_REQUEST or INVALID_TEXT. */
export function newConfig(provider: Provider, request: ConfigRequest | undefined): ChannelConfig {
  return changeConfig(provider, defaultConfig(provider), request);
}

/** Returns the settings after a change. Refused with INVALID_REQUEST or INVALID_TEXT. */
export function changeConfig(
  provider: Provider,
  current: ChannelConfig,
  request: ConfigRequest | undefined,
): ChannelConfig {
  if (!request) return current;
  const problems = new FieldProblems();
  const config = {
    mode: request.mode ?? current.mode,
    respondTo: request.respondTo ?? current.respondTo,
    access: accessOf(provider, current, request.access, problems),
    owner: request.owner ?? current.owner,
    approvers: approversOf(current, request.approvers, problems),
    busy: request.busy ?? current.busy,
    edits: request.edits ?? current.edits,
    showTools: request.showTools ?? current.showTools,
    perChat: request.perChat ?? current.perChat,
    filesIn: request.filesIn ?? current.filesIn,
    filesOut: request.filesOut ?? current.filesOut,
    trustEmail: request.trustEmail ?? current.trustEmail,
    newSessionAfterIdleSeconds: idleSecondsOf(current, request.newSessionAfterIdleSeconds, problems),
    greeting: greetingOf(current, request.greeting, problems),
  } satisfies Unchecked;
  if (request.trustEmail && provider !== 'slack')
    problems.add('/config/trust_email', 'must be true only for Slack, because other products tell no e-mail');
  problems.oneOf('/config/mode', config.mode, MODES[provider]);
  problems.oneOf('/config/respond_to', config.respondTo, ['mentions', 'all']);
  problems.oneOf('/config/owner', config.owner, ['creator', 'sender']);
  problems.oneOf('/config/busy', config.busy, ['enqueue', 'interrupt']);
  problems.oneOf('/config/edits', config.edits, ['edit', 'final_only']);
  problems.oneOf('/config/show_tools', config.showTools, ['none', 'status', 'list']);
  problems.throwIfAny();
  return config as ChannelConfig;
}

/** Lists belong to the mode `list`: another mode in a request removes them. */
function accessOf(
  provider: Provider,
  current: ChannelConfig,
  request: AccessRequest | undefined,
  problems: FieldProblems,
): ChannelConfig['access'] {
  if (!request) return current.access;
  const mode = request.mode ?? current.access.mode;
  const isList = mode === 'list';
  const people = idsOf('/config/access/people', request.people, isList, problems);
  const places = idsOf('/config/access/places', request.places, isList, problems);
  const allowExternal = request.allowExternal ?? current.access.allowExternal;
  problems.oneOf('/config/access/mode', mode, ['linked', 'list', 'anyone']);
  if (allowExternal && provider !== 'slack')
    problems.add('/config/access/allow_external', 'must be true only for Slack');
  const access = {
    mode: mode as ChannelConfig['access']['mode'],
    people: people ?? (isList ? current.access.people : []),
    places: places ?? (isList ? current.access.places : []),
    allowExternal,
  };
  if (isList && access.people.length === 0 && access.places.length === 0)
    problems.add(
      '/config/access/people',
      'or /config/access/places must have an id when access.mode is list',
    );
  return access;
}

function idsOf(
  pointer: string,
  given: { ids: readonly string[] } | undefined,
  isList: boolean,
  problems: FieldProblems,
): string[] | undefined {
  if (!given) return undefined;
  const { ids } = given;
  if (ids.length > 0 && !isList) problems.add(pointer, 'must be set only when access.mode is list');
  if (ids.length > MAX_IDS) problems.add(pointer, `must have at most ${MAX_IDS} ids`);
  for (const [index, id] of ids.entries()) {
    const at = `${pointer}/${index}`;
    problems.characters(at, id, 1, MAX_ID);
    if (/\s/.test(id)) problems.add(at, 'must not contain white space');
  }
  return [...new Set(ids)];
}

function approversOf(
  current: ChannelConfig,
  request: ConfigRequest['approvers'],
  problems: FieldProblems,
): ChannelConfig['approvers'] {
  if (!request) return current.approvers;
  const pointer = '/config/approvers';
  const { policy, userIds } = request;
  if (policy !== 'users') {
    problems.oneOf(pointer, policy, ['owner', 'managers', 'initiator']);
    return { policy: policy as ChannelConfig['approvers']['policy'], userIds: [] };
  }
  if (userIds.length === 0 || userIds.length > MAX_APPROVERS)
    problems.add(pointer, `must have 1–${MAX_APPROVERS} users`);
  for (const [index, userId] of userIds.entries())
    if (!isId('usr', userId)) problems.add(`${pointer}/${index}`, 'must be the id of a user (usr_…)');
  return { policy, userIds: [...new Set(userIds)] };
}

function idleSecondsOf(
  current: ChannelConfig,
  seconds: number | undefined,
  problems: FieldProblems,
): number | null {
  if (seconds === undefined) return current.newSessionAfterIdleSeconds;
  if (seconds === 0) return null;
  const pointer = '/config/new_session_after_idle_seconds';
  problems.range(pointer, seconds, MIN_IDLE_SECONDS, MAX_IDLE_SECONDS);
  return seconds;
}

function greetingOf(
  current: ChannelConfig,
  greeting: string | undefined,
  problems: FieldProblems,
): string | null {
  if (greeting === undefined) return current.greeting;
  problems.characters('/config/greeting', greeting, 0, MAX_GREETING);
  return greeting.trim() === '' ? null : greeting;
}
