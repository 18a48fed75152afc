import { Field, Input, TextArea } from '../../ui/field.tsx';
import { FormSection, SwitchRow } from '../../ui/form-section.tsx';
import { Switch } from '../../ui/switch.tsx';
import { AdvancedSettings } from './advanced-settings.tsx';
import type { AgentDraft } from './agent-draft.ts';
import { EnvironmentField } from './environment-field.tsx';
import { readObject, readTexts } from './json.ts';
import { JsonField } from './json-field.tsx';
import { ModelField } from './model-field.tsx';
import { NumberField } from './number-field.tsx';
import { type FieldProblems, fallbackModelProblem, problemAt } from './problems.ts';
import { PromptField } from './prompt-field.tsx';
import { useToolProblems } from './tool-problems.ts';
import { ToolsField } from './tools-field.tsx';

export interface RuntimeFieldsProps {
  /** Kind of the resource: agent or assistant. */
  noun: string;
  draft: AgentDraft;
  onChange: (changes: Partial<AgentDraft>) => void;
  problems: FieldProblems;
}

/** Form fields of all settings of an agent or an assistant. */
export function RuntimeFields({ noun, draft, onChange, problems }: RuntimeFieldsProps) {
  const at = (pointer: string) => problemAt(problems, pointer);
  const toolProblems = useToolProblems(draft, problems);
  return (
    <>
      <FormSection title="Identity" lead={`Name and description of the ${noun}.`}>
        <Field label="Name" error={at('/name')}>
          <Input value={draft.name} onChange={(event) => onChange({ name: event.target.value })} />
        </Field>
        <Field label="Description" optional error={at('/description')}>
          <TextArea
            rows={2}
            value={draft.description}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        </Field>
        <SwitchRow text="Enabled" hint="While disabled, no new conversations can start.">
          <Switch label="Enabled" checked={draft.enabled} onChange={(enabled) => onChange({ enabled })} />
        </SwitchRow>
      </FormSection>
      <FormSection title="Model" lead="The model and its instructions.">
        <ModelField value={draft.model} onChange={(model) => onChange({ model })} error={at('/model')} />
        <Field
          label="Fallback models"
          optional
          hint="One per line. A turn continues with the next one when the retries of a model are spent because its provider is overloaded or unreachable."
          error={fallbackModelProblem(problems)}
        >
          <TextArea
            rows={2}
            spellCheck={false}
            autoCapitalize="none"
            className="font-mono text-[13px]"
            value={draft.fallbackModels}
            onChange={(event) => onChange({ fallbackModels: event.target.value })}
          />
        </Field>
        <PromptField value={draft.system} onChange={(system) => onChange({ system })} error={at('/system')} />
        <JsonField
          label="Model options"
          hint="A JSON object that is passed to the model provider."
          placeholder='{"temperature": 0.2}'
          value={draft.modelOptions}
          onChange={(modelOptions) => onChange({ modelOptions })}
          check={(text) => readObject(text).problem}
          error={at('/model_options')}
        />
      </FormSection>
      <FormSection
        title="Tools"
        lead="Allow runs the tool without asking. Ask waits for an approval of each call. Deny rejects each call."
      >
        <ToolsField
          value={draft.tools}
          onChange={(tools) => onChange({ tools })}
          error={toolProblems.permissions}
        />
      </FormSection>
      <FormSection title="Environment" lead="The sandbox in which commands run, and its network access.">
        <EnvironmentField
          value={draft.environmentId}
          onChange={(environmentId) => onChange({ environmentId })}
          error={at('/environment_id')}
        />
      </FormSection>
      <FormSection title="Limits" lead="Limits per turn. A turn that reaches a limit ends and reports it.">
        <div className="grid gap-4 sm:grid-cols-3">
          <NumberField
            label="Steps"
            hint="Maximum number of model calls, up to 1,000."
            value={draft.maxSteps}
            onChange={(maxSteps) => onChange({ maxSteps })}
            error={at('/max_steps')}
          />
          <NumberField
            label="Output tokens"
            optional
            placeholder="No limit"
            value={draft.maxTokens}
            onChange={(maxTokens) => onChange({ maxTokens })}
            error={at('/budget/max_tokens')}
          />
          <NumberField
            label="Seconds"
            optional
            placeholder="No limit"
            value={draft.maxTurnSeconds}
            onChange={(maxTurnSeconds) => onChange({ maxTurnSeconds })}
            error={at('/budget/max_turn_seconds')}
          />
        </div>
      </FormSection>
      <FormSection
        title="Metadata"
        lead="Your own key-value pairs. The service stores them and does not interpret them."
      >
        <JsonField
          label="Metadata"
          hint="A JSON object with string values."
          placeholder='{"team": "support"}'
          value={draft.metadata}
          onChange={(metadata) => onChange({ metadata })}
          check={(text) => readTexts(text).problem}
          error={at('/metadata')}
        />
      </FormSection>
      <AdvancedSettings draft={draft} onChange={onChange} problems={problems} toolProblems={toolProblems} />
    </>
  );
}
