import { problemAt } from '../../../parts/editor/problems.ts';
import { Field, Input, TextArea } from '../../../ui/field.tsx';
import { FormSection } from '../../../ui/form-section.tsx';
import { RadioOptions } from '../../../ui/radio-options.tsx';
import { previewOf } from './draft.ts';
import type { ScheduleFieldsProps } from './fields-props.ts';
import { SESSIONS } from './labels.ts';
import { RuleFields } from './rule-fields.tsx';
import { TimingFields } from './timing-fields.tsx';
import { TimingPreview } from './timing-preview.tsx';

const PLACEHOLDERS = '{{date}}, {{scheduled_for_local}}, {{run_number}}, {{previous_run.status}}';

/** All settings of a schedule. */
export function ScheduleFields({ draft, onChange, problems }: ScheduleFieldsProps) {
  return (
    <>
      <FormSection title="Message" lead="The first message of each run.">
        <Field label="Name" error={problemAt(problems, '/name')}>
          <Input
            value={draft.name}
            placeholder="Morning report"
            onChange={(event) => onChange({ name: event.target.value })}
          />
        </Field>
        <Field
          label="Prompt"
          hint={`Placeholders such as ${PLACEHOLDERS} are replaced.`}
          error={problemAt(problems, '/prompt')}
        >
          <TextArea
            rows={6}
            value={draft.prompt}
            placeholder="Summarize the open issues of {{date}}."
            onChange={(event) => onChange({ prompt: event.target.value })}
          />
        </Field>
      </FormSection>
      <FormSection title="Times">
        <TimingFields draft={draft} onChange={onChange} problems={problems} />
        <TimingPreview timing={previewOf(draft)} />
      </FormSection>
      <FormSection title="Session">
        <RadioOptions
          label="Session"
          value={draft.session}
          options={SESSIONS}
          onChange={(session) => onChange({ session })}
        />
        {draft.session === 'continue' && (
          <Field
            label="Session ID"
            optional
            hint="One of your sessions with this agent. Empty: the first run creates it."
            error={problemAt(problems, '/session_id')}
          >
            <Input
              dir="ltr"
              value={draft.sessionId}
              placeholder="ses_…"
              onChange={(event) => onChange({ sessionId: event.target.value })}
            />
          </Field>
        )}
      </FormSection>
      <FormSection title="Rules" lead="Overlaps, downtimes and failures.">
        <RuleFields draft={draft} onChange={onChange} problems={problems} />
      </FormSection>
    </>
  );
}
