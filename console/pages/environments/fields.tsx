import { readTexts } from '../../parts/editor/json.ts';
import { JsonField } from '../../parts/editor/json-field.tsx';
import { type FieldProblems, problemAt } from '../../parts/editor/problems.ts';
import { Field, Input } from '../../ui/field.tsx';
import { FormSection } from '../../ui/form-section.tsx';
import { RadioOptions } from '../../ui/radio-options.tsx';
import { EMPTY_ENVIRONMENT_DRAFT, type EnvironmentDraft } from './draft.ts';
import { IdleFields } from './idle-fields.tsx';
import { TENANCY_LABELS } from './labels.ts';
import { NetworkFields } from './network-fields.tsx';
import { SandboxFields } from './sandbox-fields.tsx';

export interface EnvironmentFieldsProps {
  draft: EnvironmentDraft;
  onChange: (changes: Partial<EnvironmentDraft>) => void;
  problems: FieldProblems;
  /** The saved environment; absent for a new one, whose name can still be set. */
  saved?: EnvironmentDraft;
}

/** Form fields of all settings of an environment. */
export function EnvironmentFields({ draft, onChange, problems, saved }: EnvironmentFieldsProps) {
  const group = {
    draft,
    saved: saved ?? EMPTY_ENVIRONMENT_DRAFT,
    onChange,
    errorAt: (pointer: string) => problemAt(problems, pointer),
  };
  return (
    <>
      {!saved && (
        <FormSection title="Identity" lead="The name is unique and cannot be changed later.">
          <Field label="Name" hint="a–z, 0–9 and -" error={group.errorAt('/name')}>
            <Input
              value={draft.name}
              spellCheck={false}
              autoCapitalize="none"
              placeholder="builds"
              onChange={(event) => onChange({ name: event.target.value })}
            />
          </Field>
        </FormSection>
      )}
      <FormSection
        title="Sandbox"
        lead="Provider and resource limits. Settings that the provider does not support are rejected."
      >
        <SandboxFields {...group} />
      </FormSection>
      <FormSection title="Network" lead="Network access of commands.">
        <NetworkFields {...group} />
      </FormSection>
      <FormSection title="Sharing" lead="Files are never shared between sessions.">
        <RadioOptions
          label="Sandbox scope"
          value={draft.tenancy}
          options={TENANCY_LABELS}
          onChange={(tenancy) => onChange({ tenancy })}
        />
      </FormSection>
      <FormSection
        title="When idle"
        lead="What happens to a sandbox without a running command. Its workspace is kept."
      >
        <IdleFields {...group} />
      </FormSection>
      <FormSection
        title="Variables"
        lead="Environment variables of every command. Do not store secrets here."
      >
        <JsonField
          label="Variables"
          hint="A JSON object with string values."
          placeholder='{"LANG": "C.UTF-8"}'
          value={draft.variables}
          onChange={(variables) => onChange({ variables })}
          check={(text) => readTexts(text).problem}
          error={group.errorAt('/variables')}
        />
      </FormSection>
    </>
  );
}
