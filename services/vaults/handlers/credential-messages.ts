import type {
  CreateCredentialRequest,
  CredentialPublic,
  Credential as Message,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { type Credential, type PublicMembers, shownStatus } from '../domain/credential.ts';
import type { CredentialForm } from '../domain/credential-form.ts';
import type { OAuthMembers } from '../domain/oauth.ts';

/** An absent injection names no place, so the form's check refuses it. */
const NO_INJECTION = { headers: [], basic: false, query: [] };

/** The form of a request to create a credential, without its secret. */
export function credentialFormOf(request: CreateCredentialRequest): CredentialForm {
  const { label, type, mcpServerUrl, host, allowedHosts, expiresAt } = request;
  const publicMembers = publicMembersOf(request.public);
  return { label, type, mcpServerUrl, host, allowedHosts, publicMembers, expiresAt };
}

export function credentialMessage(credential: Credential): Message {
  const { generation: _, publicMembers, ...members } = credential;
  return {
    ...members,
    public: publicMembers && { of: publicMembers },
    status: shownStatus(credential),
  };
}

function publicMembersOf(given: CredentialPublic | undefined): PublicMembers {
  const members = given?.of;
  if (members?.$case === 'oauth') return { $case: 'oauth', value: members.value as OAuthMembers };
  if (members?.$case !== 'environmentVariable') return members;
  const { value } = members;
  return { $case: members.$case, value: { ...value, inject: value.inject ?? NO_INJECTION } };
}
