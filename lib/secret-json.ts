import { Secret } from './secret.ts';

/** A JSON value whose texts can be secrets. */
export type SecretJson =
  | Secret
  | string
  | number
  | boolean
  | null
  | readonly SecretJson[]
  | { readonly [member: string]: SecretJson };

/** A JSON value whose texts are all secrets. */
export type DecodedSecretJson =
  | Secret
  | number
  | boolean
  | null
  | DecodedSecretJson[]
  | { [member: string]: DecodedSecretJson };

/** Returns JSON that contains the texts of secrets, for encryption alone. */
export function encodeSecretJson(value: SecretJson): Buffer {
  return Buffer.from(JSON.stringify(value, revealed));
}

/** Throws an Error that does not contain the text. */
export function decodeSecretJson(bytes: Buffer): DecodedSecretJson {
  try {
    return JSON.parse(bytes.toString(), (_, value) =>
      typeof value === 'string' ? new Secret(value) : value,
    );
  } catch {
    throw new Error('a decrypted text is not JSON');
  }
}

/** Returns the members of an object whose values are all secrets. Throws an Error for any other value. */
export function secretMembers(value: DecodedSecretJson): Record<string, Secret> {
  if (typeof value !== 'object' || value === null || value instanceof Secret || Array.isArray(value))
    throw new Error('a decrypted value is not an object');
  const members = Object.entries(value).map(([name, member]): [string, Secret] => {
    if (!(member instanceof Secret)) throw new Error(`the decrypted member ${name} is not a text`);
    return [name, member];
  });
  return Object.fromEntries(members);
}

/** `JSON.stringify` has already called `toJSON` of the value. */
function revealed(this: Record<string, unknown>, member: string, value: unknown): unknown {
  const original = this[member];
  return original instanceof Secret ? original.reveal() : value;
}
