import type { Secret } from '../../../lib/secret.ts';
import { type Credential, SECRET_MEMBERS } from './credential.ts';

type Described = Pick<Credential, 'type' | 'publicMembers'>;
type Secrets = Readonly<Record<string, Secret>>;

/** The form in which a credential leaves the service: headers of requests, or the value of a variable or model key. */
export type SecretContent = { headers: Record<string, string> } | { value: string };

/** The headers with which a credential authorizes requests to its MCP server or host. */
export function credentialHeaders(
  { type, publicMembers }: Described,
  secrets: Secrets,
): Record<string, string> {
  if (type === 'oauth2' || type === 'oauth2_client')
    return { Authorization: `Bearer ${secrets.access_token?.reveal() ?? ''}` };
  const secret = secrets[SECRET_MEMBERS[type][0]]?.reveal() ?? '';
  if (type === 'bearer') return { Authorization: `Bearer ${secret}` };
  if (publicMembers?.$case === 'header') return { [publicMembers.value.name]: secret };
  if (publicMembers?.$case !== 'basic') return {};
  const pair = Buffer.from(`${publicMembers.value.username}:${secret}`).toString('base64');
  return { Authorization: `Basic ${pair}` };
}

/** The names in lower case of the headers of a credential. */
export function headerNames({ publicMembers }: Described): string[] {
  return [publicMembers?.$case === 'header' ? publicMembers.value.name.toLowerCase() : 'authorization'];
}

/** The content of a lent credential. */
export function secretContent(credential: Described, secrets: Secrets): SecretContent {
  const { type } = credential;
  if (type !== 'environment_variable' && type !== 'model_key')
    return { headers: credentialHeaders(credential, secrets) };
  return { value: secrets[SECRET_MEMBERS[type][0]]?.reveal() ?? '' };
}
