import { type FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import type { Secret } from '../../../lib/secret.ts';
import { type CredentialSecrets, type CredentialType, SECRET_MEMBERS } from './credential.ts';

const MAX_SECRET_BYTES = 16 * 1024;

interface SecretRule {
  characters: RegExp;
  expected: string;
}

/** RFC 9110 permits spaces inside the value of a header. Other ones would be removed on the way. */
const HEADER_VALUE: SecretRule = {
  characters: /^[!-~]([ -~]*[!-~])?$/,
  expected: 'must be printable ASCII characters without spaces at the ends',
};
const TOKEN: SecretRule = {
  characters: /^[!-~]+$/,
  expected: 'must be printable ASCII characters without spaces',
};

/** RFC 6749, appendix A.2. */
const CLIENT_SECRET: SecretRule = {
  characters: /^[ -~]+$/,
  expected: 'must be printable ASCII characters',
};

const RULES: Record<CredentialType, SecretRule> = {
  bearer: TOKEN,
  header: HEADER_VALUE,
  oauth2: TOKEN,
  oauth2_client: CLIENT_SECRET,
  basic: { characters: /^\P{Cc}+$/u, expected: 'must not contain control characters' },
  environment_variable: HEADER_VALUE,
  model_key: TOKEN,
};

/**
 * Returns the secret members of a credential from those of a request. Adds each problem to `problems`; a problem names the
 * member and not its value. The result is undefined when there is any.
 */
export function readSecrets(
  type: CredentialType,
  members: Readonly<Record<string, Secret>>,
  problems: FieldProblems,
): (CredentialSecrets & { described: Secret }) | undefined {
  const known: readonly string[] = SECRET_MEMBERS[type];
  const [required] = SECRET_MEMBERS[type];
  for (const [name, secret] of Object.entries(members))
    if (known.includes(name)) checkSecret(type, name, secret, problems);
    else problems.add(pointerSegment(name), `must be absent for the type ${type}`);
  const described = Object.hasOwn(members, required) ? members[required] : undefined;
  if (described) return { members, described };
  problems.add(`/${required}`, `must be present for the type ${type}`);
  return undefined;
}

function checkSecret(type: CredentialType, name: string, secret: Secret, problems: FieldProblems): void {
  const pointer = `/${name}`;
  const { characters, expected } = name === 'client_secret' ? CLIENT_SECRET : RULES[type];
  const text = secret.reveal();
  if (Buffer.byteLength(text) > MAX_SECRET_BYTES) problems.add(pointer, 'must be at most 16 KiB long');
  else if (text === '') problems.add(pointer, 'must not be empty');
  else if (!text.isWellFormed() || !characters.test(text)) problems.add(pointer, expected);
}
