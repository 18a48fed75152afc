import type { RefObject } from 'react';
import { NumberField } from '../../parts/editor/number-field.tsx';
import { type FieldProblems, problemAt } from '../../parts/editor/problems.ts';
import { takeSecret } from '../../parts/secrets/secret-field.tsx';
import { Field, Input, TextArea } from '../../ui/field.tsx';
import { FormSection, SwitchRow } from '../../ui/form-section.tsx';
import { RadioOptions } from '../../ui/radio-options.tsx';
import { Switch } from '../../ui/switch.tsx';
import type { McpServerDraft, SettingsDraft } from './draft.ts';
import { OAuthFields } from './oauth-fields.tsx';

interface FieldsProps<Draft> {
  draft: Draft;
  onChange: (changes: Partial<Draft>) => void;
  problems: FieldProblems;
}

const TRANSPORTS = [
  { value: 'streamable_http', text: 'Streamable HTTP' },
  {
    value: 'sse',
    text: 'SSE',
    about: 'Deprecated by the protocol. Only for servers that offer nothing else.',
  },
] as const;

/** The members of a new server that never change. */
export function IdentityFields({ draft, onChange, problems }: FieldsProps<McpServerDraft>) {
  return (
    <FormSection title="Server" lead="Name, URL and transport cannot be changed later.">
      <Field label="Name" hint="A part of the names of its tools." error={problemAt(problems, '/name')}>
        <Input
          value={draft.name}
          placeholder="github"
          spellCheck={false}
          autoCapitalize="none"
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </Field>
      <Field label="URL" error={problemAt(problems, '/url')}>
        <Input
          value={draft.url}
          placeholder="https://mcp.example.com/mcp"
          inputMode="url"
          spellCheck={false}
          autoCapitalize="none"
          onChange={(event) => onChange({ url: event.target.value })}
        />
      </Field>
      <RadioOptions
        label="Transport"
        value={draft.transport}
        options={TRANSPORTS}
        onChange={(transport) => onChange({ transport })}
      />
    </FormSection>
  );
}

const AUTHORIZATIONS = [
  { value: 'none', text: 'None', about: 'Requests carry no credential.' },
  { value: 'shared', text: 'Shared', about: 'A credential from a vault of the agent or assistant.' },
  { value: 'personal', text: 'Personal', about: 'The connection of the user whose session calls it.' },
  { value: 'any', text: 'Personal or shared', about: 'The connection of the user, and else a shared vault.' },
] as const;
const AVAILABILITIES = [
  {
    value: 'managers',
    text: 'Managers',
    about: 'Managers add it to their agents, users to their assistants.',
  },
  { value: 'administrators', text: 'Administrators', about: 'Only administrators add it.' },
] as const;

interface SettingsFieldsProps extends FieldsProps<SettingsDraft> {
  /** The field of the client secret for OAuth. */
  secret: RefObject<HTMLInputElement | null>;
  hasStoredSecret?: boolean;
}

export function SettingsFields(props: SettingsFieldsProps) {
  const { draft, onChange, problems, secret, hasStoredSecret = false } = props;
  const hasConnections = draft.authorization === 'personal' || draft.authorization === 'any';
  return (
    <>
      <FormSection title="Access">
        <Field label="Description" optional error={problemAt(problems, '/description')}>
          <TextArea
            value={draft.description}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        </Field>
        <RadioOptions<SettingsDraft['authorization']>
          label="Authorization"
          value={draft.authorization}
          options={AUTHORIZATIONS}
          onChange={(authorization) => {
            takeSecret(secret);
            onChange({ authorization, clientSecret: 'none' });
          }}
        />
        <RadioOptions
          label="Available to"
          value={draft.availableTo}
          options={AVAILABILITIES}
          onChange={(availableTo) => onChange({ availableTo })}
        />
      </FormSection>
      {hasConnections && <OAuthFields {...{ draft, onChange, problems, secret, hasStoredSecret }} />}
      <FormSection title="Behavior">
        <NumberField
          label="Time limit in seconds"
          hint="For silence and for calls without progress. From 1 to 600."
          value={draft.timeout}
          onChange={(timeout) => onChange({ timeout })}
          error={problemAt(problems, '/timeout_seconds')}
        />
        <SwitchRow
          text="Trust annotations"
          hint="The hints of the server count as the effect of its tools where a review by API states none. Here they always preselect the effect."
        >
          <Switch
            label="Trust annotations"
            checked={draft.trustAnnotations}
            onChange={(trustAnnotations) => onChange({ trustAnnotations })}
          />
        </SwitchRow>
        <SwitchRow text="Offer instructions" hint="The reviewed instructions are part of the system prompt.">
          <Switch
            label="Offer instructions"
            checked={draft.offerInstructions}
            onChange={(offerInstructions) => onChange({ offerInstructions })}
          />
        </SwitchRow>
      </FormSection>
    </>
  );
}
