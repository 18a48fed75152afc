import { readTexts } from '../../parts/editor/json.ts';
import { JsonField } from '../../parts/editor/json-field.tsx';
import { type Problems, problemAt } from '../../parts/editor/problems.ts';
import { Field, Input } from '../../ui/field.tsx';
import { Radios } from '../../ui/radios.tsx';
import { Section } from '../../ui/section.tsx';
import { EMPTY, type EnvironmentDraft } from './draft.ts';
import { IdleFields } from './idle-fields.tsx';
import { NetworkFields } from './network-fields.tsx';
import { SandboxFields } from './sandbox-fields.tsx';
import { TENANCIES } from './words.ts';

export interface EnvironmentFieldsProps {
  draft: EnvironmentDraft;
  onChange: (changes: Partial<EnvironmentDraft>) => void;
  problems: Problems;
  /** As it is kept so far. A new one is given its name, once. */
  kept?: EnvironmentDraft;
}

/** All that can be said of an environment. */
export function EnvironmentFields({ draft, onChange, problems, kept }: EnvironmentFieldsProps) {
  const part = {
    draft,
    kept: kept ?? EMPTY,
    onChange,
    at: (pointer: string) => problemAt(problems, pointer),
  };
  return (
    <>
      {!kept && (
        <Section title="Identity" lead="The name is unique, and never changes.">
          <Field label="Name" hint="a–z, 0–9 and -" error={part.at('/name')}>
            <Input
              value={draft.name}
              spellCheck={false}
              autoCapitalize="none"
              placeholder="builds"
              onChange={(event) => onChange({ name: event.target.value })}
            />
          </Field>
        </Section>
      )}
      <Section
        title="Sandbox"
        lead="What runs the commands, and how much it may take. What a provider cannot keep is refused."
      >
        <SandboxFields {...part} />
      </Section>
      <Section title="Network" lead="What commands can reach.">
        <NetworkFields {...part} />
      </Section>
      <Section title="Sharing" lead="Files of a session stay its own in either case.">
        <Radios
          label="A sandbox for"
          value={draft.tenancy}
          options={TENANCIES}
          onChange={(tenancy) => onChange({ tenancy })}
        />
      </Section>
      <Section title="When idle" lead="What happens to a sandbox in which nothing runs. Its workspace stays.">
        <IdleFields {...part} />
      </Section>
      <Section title="Variables" lead="Environment variables of every command. They are no secrets.">
        <JsonField
          label="Variables"
          hint="A JSON object whose members are texts."
          placeholder='{"LANG": "C.UTF-8"}'
          value={draft.variables}
          onChange={(variables) => onChange({ variables })}
          check={(text) => readTexts(text).problem}
          error={part.at('/variables')}
        />
      </Section>
    </>
  );
}
