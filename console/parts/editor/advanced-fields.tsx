import type { OverridableFields } from '../../gen/index.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { FormSection } from '../../ui/form-section.tsx';
import type { AgentDraft } from './agent-draft.ts';
import { ClientToolsField } from './client-tools-field.tsx';
import { ContextFields } from './context-fields.tsx';
import { readSchema } from './json.ts';
import { JsonField } from './json-field.tsx';
import { type FieldProblems, problemAt } from './problems.ts';
import type { ToolProblems } from './tool-problems.ts';

/** The settings that conversations and messages can override, in the order of the form. */
const OVERRIDABLE: Readonly<Record<OverridableFields[number], string>> = {
  model: 'Model',
  system: 'System prompt',
  model_options: 'Model options',
  tools: 'Tools',
  client_tools: 'Client tools',
  max_steps: 'Steps',
  budget: 'Output tokens and seconds',
  output_schema: 'Output schema',
};

export interface AdvancedFieldsProps {
  draft: AgentDraft;
  onChange: (changes: Partial<AgentDraft>) => void;
  problems: FieldProblems;
  toolProblems: ToolProblems;
}

/** Form fields of the settings that few agents need. */
export function AdvancedFields({ draft, onChange, problems, toolProblems }: AdvancedFieldsProps) {
  return (
    <>
      <FormSection
        title="Client tools"
        lead="Tools that the client runs. A call stops the turn until the client submits the result over the API."
      >
        <ClientToolsField
          value={draft.clientTools}
          onChange={(clientTools) => onChange({ clientTools })}
          problems={toolProblems}
        />
      </FormSection>
      <FormSection
        title="Structured output"
        lead="With an output schema, the last message of a turn has the answer as a JSON value."
      >
        <JsonField
          label="Output schema"
          hint="A JSON Schema of the answer. Leave the field empty for an answer in text."
          placeholder='{"type": "object", "properties": {"total": {"type": "number"}}}'
          value={draft.outputSchema}
          onChange={(outputSchema) => onChange({ outputSchema })}
          check={(text) => readSchema(text).problem}
          error={problemAt(problems, '/output_schema')}
        />
      </FormSection>
      <FormSection title="Overrides" lead="Settings that a conversation or a message can override.">
        <OverridableField
          value={draft.overridable}
          onChange={(overridable) => onChange({ overridable })}
          error={problemAt(problems, '/overridable')}
        />
      </FormSection>
      <FormSection
        title="Long conversations"
        lead="The context window limits what a model can read. The service shortens what the model gets of a long conversation. The session keeps all messages."
      >
        <ContextFields draft={draft} onChange={onChange} problems={problems} />
      </FormSection>
    </>
  );
}

interface OverridableFieldProps {
  value: OverridableFields;
  onChange: (value: OverridableFields) => void;
  error: string | undefined;
}

function OverridableField({ value, onChange, error }: OverridableFieldProps) {
  // Settings that this release does not know, for example from a newer release, are kept.
  const names = Object.keys(OVERRIDABLE) as OverridableFields;
  return (
    <fieldset aria-label="Overridable settings" className="grid gap-2 sm:grid-cols-2">
      {names.map((name) => (
        <Checkbox
          key={name}
          checked={value.includes(name)}
          onChange={(isChecked) =>
            onChange(isChecked ? [...value, name] : value.filter((other) => other !== name))
          }
        >
          {OVERRIDABLE[name]}
        </Checkbox>
      ))}
      {error && (
        <p role="alert" className="text-[13px] text-bad sm:col-span-2">
          {error}
        </p>
      )}
    </fieldset>
  );
}
