import { Field, Input, TextArea } from '../../ui/field.tsx';
import { Choice, Section } from '../../ui/section.tsx';
import { Switch } from '../../ui/switch.tsx';
import type { Draft } from './draft.ts';
import { EnvironmentField } from './environment-field.tsx';
import { readObject, readTexts } from './json.ts';
import { JsonField } from './json-field.tsx';
import { ModelField } from './model-field.tsx';
import { NumberField } from './number-field.tsx';
import { type Problems, problemAt } from './problems.ts';
import { PromptField } from './prompt-field.tsx';
import { ToolsField } from './tools-field.tsx';

export interface RuntimeFieldsProps {
  /** What it is: agent or assistant. */
  noun: string;
  draft: Draft;
  onChange: (changes: Partial<Draft>) => void;
  problems: Problems;
}

/** All that can be said of an agent or an assistant. */
export function RuntimeFields({ noun, draft, onChange, problems }: RuntimeFieldsProps) {
  const at = (pointer: string) => problemAt(problems, pointer);
  return (
    <>
      <Section title="Identity" lead={`How people find and recognise the ${noun}.`}>
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
        <Choice text="Enabled" hint="While it is off, no conversation begins.">
          <Switch label="Enabled" checked={draft.enabled} onChange={(enabled) => onChange({ enabled })} />
        </Choice>
      </Section>
      <Section title="Model" lead="Who answers, and what it is told first.">
        <ModelField value={draft.model} onChange={(model) => onChange({ model })} error={at('/model')} />
        <PromptField value={draft.system} onChange={(system) => onChange({ system })} error={at('/system')} />
        <JsonField
          label="Model options"
          hint="A JSON object, handed to the model as it is."
          placeholder='{"temperature": 0.2}'
          value={draft.modelOptions}
          onChange={(modelOptions) => onChange({ modelOptions })}
          check={(text) => readObject(text).problem}
          error={at('/model_options')}
        />
      </Section>
      <Section
        title="Tools"
        lead="Allow runs a tool at once, Ask waits each time for somebody’s approval, Deny tells the model that it may not."
      >
        <ToolsField value={draft.tools} onChange={(tools) => onChange({ tools })} error={at('/tools')} />
      </Section>
      <Section title="Environment" lead="The sandbox in which commands run, and what it can reach.">
        <EnvironmentField
          value={draft.environmentId}
          onChange={(environmentId) => onChange({ environmentId })}
          error={at('/environment_id')}
        />
      </Section>
      <Section title="Limits" lead="Of each turn. One that reaches a limit ends there and says so.">
        <div className="grid gap-4 sm:grid-cols-3">
          <NumberField
            label="Steps"
            hint="Model calls, at most 1,000."
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
      </Section>
      <Section
        title="Metadata"
        lead="Texts of your own by name. The service keeps them and does not read them."
      >
        <JsonField
          label="Metadata"
          hint="A JSON object whose members are texts."
          placeholder='{"team": "support"}'
          value={draft.metadata}
          onChange={(metadata) => onChange({ metadata })}
          check={(text) => readTexts(text).problem}
          error={at('/metadata')}
        />
      </Section>
    </>
  );
}
