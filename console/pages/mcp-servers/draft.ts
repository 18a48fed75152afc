import type { CreateMcpServerData, McpServer } from '../../gen/index.ts';
import type { DisplayedField } from '../../parts/diff/fields.ts';
import { type FieldProblems, wholeNumber } from '../../parts/editor/problems.ts';
import { EMPTY_OAUTH_DRAFT, type OAuthDraft, oauthDraftOf, readOAuthDraft } from './oauth-draft.ts';

/** The settings of a server, which can change. */
export interface SettingsDraft extends OAuthDraft {
  description: string;
  authorization: McpServer['authorization'];
  timeout: string;
  availableTo: McpServer['available_to'];
  trustAnnotations: boolean;
  offerInstructions: boolean;
}

/** A new server. Its name, URL and transport never change. */
export interface McpServerDraft extends SettingsDraft {
  name: string;
  url: string;
  transport: McpServer['transport'];
}

export const EMPTY_SERVER_DRAFT: McpServerDraft = {
  name: '',
  url: '',
  transport: 'streamable_http',
  description: '',
  authorization: 'none',
  timeout: '60',
  availableTo: 'managers',
  trustAnnotations: false,
  offerInstructions: false,
  ...EMPTY_OAUTH_DRAFT,
};

export const settingsDraftOf = (server: McpServer): SettingsDraft => ({
  description: server.description,
  authorization: server.authorization,
  timeout: String(server.timeout_seconds),
  availableTo: server.available_to,
  trustAnnotations: server.trust_annotations,
  offerInstructions: server.offer_instructions,
  ...oauthDraftOf(server),
});

export function readSettingsDraft(draft: SettingsDraft) {
  const problems: FieldProblems = {};
  const timeout = wholeNumber(draft.timeout, { min: 1, max: 600 });
  if (timeout.problem) problems['/timeout_seconds'] = timeout.problem;
  const body = {
    description: draft.description.trim(),
    authorization: draft.authorization,
    timeout_seconds: timeout.value ?? 0,
    available_to: draft.availableTo,
    trust_annotations: draft.trustAnnotations,
    offer_instructions: draft.offerInstructions,
    oauth: readOAuthDraft(draft, problems),
  };
  return { body, problems };
}

const NAME = /^[a-z][a-z0-9-]{0,31}$/;

export function readServerDraft(draft: McpServerDraft) {
  const { body: settings, problems } = readSettingsDraft(draft);
  const name = draft.name.trim();
  const url = draft.url.trim();
  if (!NAME.test(name))
    problems['/name'] = 'Enter 1 to 32 lowercase letters, digits or hyphens that begin with a letter.';
  if (!URL.canParse(url)) problems['/url'] = 'Enter the URL of the server.';
  const { oauth, ...others } = settings;
  const body: CreateMcpServerData['body'] = {
    ...{ name, url, transport: draft.transport, ...others },
    ...(Object.keys(oauth).length > 0 && { oauth }),
  };
  return { body, problems };
}

export const settingsFields = (body: ReturnType<typeof readSettingsDraft>['body']): DisplayedField[] => [
  { label: 'Description', text: body.description },
  { label: 'Authorization', text: body.authorization },
  { label: 'Time limit', text: String(body.timeout_seconds) },
  { label: 'Available to', text: body.available_to },
  { label: 'Trust annotations', text: body.trust_annotations ? 'Yes' : 'No' },
  { label: 'Offer instructions', text: body.offer_instructions ? 'Yes' : 'No' },
  { label: 'OAuth issuer', text: body.oauth.issuer ?? '' },
  { label: 'OAuth client id', text: body.oauth.client_id ?? '' },
  { label: 'OAuth scopes', text: body.oauth.scopes?.join(' ') ?? '' },
];
