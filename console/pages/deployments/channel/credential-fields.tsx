import { createRef, type RefObject, useState } from 'react';
import type { Channel } from '../../../gen/index.ts';
import { type FieldProblems, problemAt } from '../../../parts/editor/problems.ts';
import { SecretField, takeSecret } from '../../../parts/secrets/secret-field.tsx';
import { CREDENTIAL_FIELDS, type CredentialField } from './labels.ts';

type Inputs = Record<CredentialField['name'], RefObject<HTMLInputElement | null>>;

/** The secrets of a form. They are only in the DOM until the request is sent. */
export function useCredentialInputs() {
  const [inputs] = useState<Inputs>(() => ({
    bot_token: createRef(),
    signing_secret: createRef(),
    app_token: createRef(),
    application_id: createRef(),
    public_key: createRef(),
  }));
  return {
    inputs,
    /** Returns the values of the filled fields and empties them. */
    take(): Partial<Record<CredentialField['name'], string>> {
      const entries = Object.entries(inputs).map(([name, input]) => [name, takeSecret(input).trim()]);
      return Object.fromEntries(entries.filter(([, text]) => text !== ''));
    },
  };
}

export interface CredentialFieldsProps {
  provider: Channel['provider'];
  mode: Channel['config']['mode'];
  inputs: Inputs;
  problems: FieldProblems;
  /** An empty field keeps the stored value. */
  isChange?: boolean;
  /** The fields can stay empty. */
  optional?: boolean;
}

/** The credentials of the product. */
export function CredentialFields({
  provider,
  mode,
  inputs,
  problems,
  isChange = false,
  optional = isChange,
}: CredentialFieldsProps) {
  const fields = CREDENTIAL_FIELDS[provider].filter((field) => isChange || (field.mode ?? mode) === mode);
  return fields.map(({ name, label, hint }) => (
    <SecretField
      key={name}
      label={label}
      input={inputs[name]}
      optional={optional}
      hint={isChange ? `${hint} Empty: unchanged.` : hint}
      error={problemAt(problems, `/credentials/${name}`)}
    />
  ));
}
