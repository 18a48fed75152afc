import type { RefObject } from 'react';
import { type FieldProblems, problemAt } from '../../parts/editor/problems.ts';
import { SecretField } from '../../parts/secrets/secret-field.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { FormSection } from '../../ui/form-section.tsx';
import type { OAuthDraft } from './oauth-draft.ts';

export interface OAuthFieldsProps {
  draft: OAuthDraft;
  onChange: (changes: Partial<OAuthDraft>) => void;
  problems: FieldProblems;
  /** The field of the client secret. */
  secret: RefObject<HTMLInputElement | null>;
  hasStoredSecret: boolean;
}

/** The settings for connections of users with OAuth. All of them are optional. */
export function OAuthFields({ draft, onChange, problems, secret, hasStoredSecret }: OAuthFieldsProps) {
  const input = (member: 'oauthIssuer' | 'oauthClientId' | 'oauthScopes', placeholder: string) => ({
    value: draft[member],
    placeholder,
    spellCheck: false,
    autoCapitalize: 'none',
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => onChange({ [member]: event.target.value }),
  });
  return (
    <FormSection
      title="OAuth"
      lead="For connections of users. Empty fields follow what the server and its authorization server describe."
    >
      <Field
        label="Issuer"
        optional
        hint="Which authorization server of the server counts."
        error={problemAt(problems, '/oauth/issuer')}
      >
        <Input {...input('oauthIssuer', 'https://login.example.com')} inputMode="url" />
      </Field>
      <Field
        label="Client id"
        optional
        hint="Of a client that you registered at the issuer."
        error={problemAt(problems, '/oauth/client_id')}
      >
        <Input {...input('oauthClientId', 'ahs')} />
      </Field>
      <SecretField
        label="Client secret"
        optional
        input={secret}
        onChange={(text) => onChange({ clientSecret: text === '' ? 'none' : 'entered' })}
        hint={
          hasStoredSecret
            ? 'A secret is stored. It is kept while issuer and client id stay the same. Enter another one to replace it.'
            : 'Stored encrypted and sent to the issuer alone. At most 16 KiB.'
        }
        error={problemAt(problems, '/oauth/client_secret')}
      />
      <Field label="Scopes" optional hint="Separated by spaces." error={problemAt(problems, '/oauth/scopes')}>
        <Input {...input('oauthScopes', 'read write')} />
      </Field>
    </FormSection>
  );
}
