import type { Channel, DeploymentPatch } from '../../../gen/index.ts';
import { type FieldProblems, wholeNumber } from '../../../parts/editor/problems.ts';
import { MODES } from './labels.ts';

type Config = Channel['config'];

/** The editable members of a channel. */
export interface ChannelBody {
  name: string;
  config: Config;
}

/** ChannelBody as the values of the form fields. Lists have one entry per line. */
export interface ChannelDraft {
  name: string;
  mode: Config['mode'];
  respondTo: Config['respond_to'];
  access: Config['access']['mode'];
  people: string;
  places: string;
  allowExternal: boolean;
  owner: Config['owner'];
  approvers: Config['approvers'];
  busy: Config['busy'];
  edits: Config['edits'];
  showTools: Config['show_tools'];
  perChat: boolean;
  filesIn: boolean;
  filesOut: boolean;
  trustEmail: boolean;
  /** Empty: never. */
  idleSeconds: string;
  greeting: string;
}

export const emptyChannelDraft = (provider: Channel['provider']): ChannelDraft => ({
  name: '',
  mode: MODES[provider][0].value,
  respondTo: 'mentions',
  access: 'linked',
  people: '',
  places: '',
  allowExternal: false,
  owner: 'creator',
  approvers: 'owner',
  busy: 'enqueue',
  edits: 'edit',
  showTools: 'status',
  perChat: true,
  filesIn: true,
  filesOut: true,
  trustEmail: false,
  idleSeconds: '',
  greeting: '',
});

export const channelDraftOf = ({ name, config }: ChannelBody): ChannelDraft => ({
  name,
  mode: config.mode,
  respondTo: config.respond_to,
  access: config.access.mode,
  people: config.access.people.join('\n'),
  places: config.access.places.join('\n'),
  allowExternal: config.access.allow_external,
  owner: config.owner,
  approvers: config.approvers,
  busy: config.busy,
  edits: config.edits,
  showTools: config.show_tools,
  perChat: config.per_chat,
  filesIn: config.files_in,
  filesOut: config.files_out,
  trustEmail: config.trust_email,
  idleSeconds: config.new_session_after_idle_seconds?.toString() ?? '',
  greeting: config.greeting ?? '',
});

const MIN_IDLE_SECONDS = 60;
const MAX_IDLE_SECONDS = 31_536_000;
const linesOf = (text: string) => text.split('\n').flatMap((line) => line.trim() || []);

/** Parses a draft. `problems` maps JSON Pointers to validation errors. */
export function readChannelDraft(draft: ChannelDraft): { body: ChannelBody; problems: FieldProblems } {
  const problems: FieldProblems = {};
  if (draft.name.trim() === '') problems['/name'] = 'Enter a name.';
  const people = linesOf(draft.people);
  const places = linesOf(draft.places);
  if (draft.access === 'list' && people.length + places.length === 0)
    problems['/config/access/people'] = 'Enter an account or a place.';
  const idle = draft.idleSeconds.trim()
    ? wholeNumber(draft.idleSeconds, { min: MIN_IDLE_SECONDS, max: MAX_IDLE_SECONDS })
    : { value: null };
  if ('problem' in idle && idle.problem !== undefined)
    problems['/config/new_session_after_idle_seconds'] = idle.problem;
  const body = {
    name: draft.name.trim(),
    config: {
      mode: draft.mode,
      respond_to: draft.respondTo,
      access: { mode: draft.access, people, places, allow_external: draft.allowExternal },
      owner: draft.owner,
      approvers: draft.approvers,
      busy: draft.busy,
      edits: draft.edits,
      show_tools: draft.showTools,
      per_chat: draft.perChat,
      files_in: draft.filesIn,
      files_out: draft.filesOut,
      trust_email: draft.trustEmail,
      new_session_after_idle_seconds: idle.value ?? null,
      greeting: draft.greeting.trim() || null,
    },
  };
  return { body, problems };
}

/** The patch of changed members. `config` is sent whole. */
export const channelPatchOf = (changes: Partial<ChannelBody>): DeploymentPatch => changes;
