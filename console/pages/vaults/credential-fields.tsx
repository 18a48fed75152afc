import { type FieldProblems, problemAt } from '../../parts/editor/problems.ts';
import { Field, Input, type InputProps, TextArea } from '../../ui/field.tsx';
import { RadioOptions } from '../../ui/radio-options.tsx';
import type { CredentialDraft } from './credential-draft.ts';

export interface CredentialFieldsProps {
  draft: CredentialDraft;
  onChange: (changes: Partial<CredentialDraft>) => void;
  problems: FieldProblems;
}

const DESTINATIONS = [
  { value: 'server', text: 'An MCP server', about: 'Used when agents call its tools.' },
  { value: 'host', text: 'A host', about: 'Used when commands of sandboxes reach it.' },
] as const;

/** The public fields of the type of a new credential. */
export function CredentialFields({ draft, onChange, problems }: CredentialFieldsProps) {
  const { type } = draft;
  const input = (
    member: Exclude<keyof CredentialDraft, 'type' | 'destination' | 'label' | 'hosts'>,
    placeholder: string,
  ): InputProps => ({
    value: draft[member],
    placeholder,
    spellCheck: false,
    autoCapitalize: 'none',
    autoComplete: 'off',
    onChange: (event) => onChange({ [member]: event.target.value }),
  });
  const errorAt = (pointer: string) => problemAt(problems, pointer);
  return (
    <>
      {type !== 'environment_variable' && type !== 'model_key' && (
        <>
          <RadioOptions
            label="Destination"
            value={draft.destination}
            options={DESTINATIONS}
            onChange={(destination) => onChange({ destination })}
          />
          {draft.destination === 'server' ? (
            <Field label="URL of the MCP server" error={errorAt('/mcp_server_url')}>
              <Input {...input('url', 'https://mcp.example.com/mcp')} inputMode="url" />
            </Field>
          ) : (
            <Field label="Host" hint="A name, or *. and a domain." error={errorAt('/host')}>
              <Input {...input('host', 'api.example.com')} />
            </Field>
          )}
        </>
      )}
      {type === 'header' && (
        <Field label="Name of the header" error={errorAt('/name')}>
          <Input {...input('name', 'X-Api-Key')} />
        </Field>
      )}
      {type === 'basic' && (
        <Field label="User name" error={errorAt('/username')}>
          <Input {...input('username', 'deploy')} />
        </Field>
      )}
      {(type === 'oauth2' || type === 'oauth2_client') && (
        <>
          <Field label="Token endpoint" error={errorAt('/token_endpoint')}>
            <Input {...input('tokenEndpoint', 'https://login.example.com/token')} inputMode="url" />
          </Field>
          <Field label="Client id" error={errorAt('/client_id')}>
            <Input {...input('clientId', 'ahs')} />
          </Field>
          <Field label="Scopes" optional hint="Separated by spaces." error={errorAt('/scopes')}>
            <Input {...input('scopes', 'read write')} />
          </Field>
          <Field
            label="Resource"
            optional
            hint="The resource that token requests name (RFC 8707)."
            error={errorAt('/resource')}
          >
            <Input {...input('resource', 'https://mcp.example.com/mcp')} inputMode="url" />
          </Field>
        </>
      )}
      {type === 'model_key' && (
        <Field
          label="Model provider"
          hint="The part of a model name before the slash."
          error={errorAt('/provider')}
        >
          <Input {...input('provider', 'anthropic')} />
        </Field>
      )}
      {type === 'environment_variable' && (
        <>
          <Field label="Name of the variable" error={errorAt('/name')}>
            <Input {...input('name', 'GITHUB_TOKEN')} />
          </Field>
          <Field
            label="Allowed hosts"
            hint="One host per line, at most 16. Only requests to them get the secret."
            error={errorAt('/allowed_hosts')}
          >
            <TextArea
              value={draft.hosts}
              spellCheck={false}
              placeholder="api.github.com"
              onChange={(event) => onChange({ hosts: event.target.value })}
            />
          </Field>
          <Field
            label="Prefix of the placeholder"
            optional
            hint="For programs that check how a value begins."
            error={errorAt('/placeholder_prefix')}
          >
            <Input {...input('placeholderPrefix', 'ghp_')} />
          </Field>
        </>
      )}
    </>
  );
}
