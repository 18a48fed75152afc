import { NumberField } from '../../../parts/editor/number-field.tsx';
import { problemAt } from '../../../parts/editor/problems.ts';
import { providerName } from '../../../parts/text/provider-names.ts';
import { Field, Input, TextArea } from '../../../ui/field.tsx';
import { FormSection, SwitchRow } from '../../../ui/form-section.tsx';
import { RadioOptions } from '../../../ui/radio-options.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { AccessFields } from './access-fields.tsx';
import { AnswerFields } from './answer-fields.tsx';
import type { ChannelFieldsProps } from './fields-props.ts';
import { MODES, RESPOND_TO } from './labels.ts';

/** The name of a channel and how its events arrive. */
export function ConnectionFields({ provider, draft, onChange, problems }: ChannelFieldsProps) {
  const modes = MODES[provider];
  return (
    <>
      <Field label="Name" error={problemAt(problems, '/name')}>
        <Input
          value={draft.name}
          placeholder={provider === 'http' ? 'Support' : `Support in ${providerName(provider)}`}
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </Field>
      {modes.length > 1 && (
        <fieldset>
          <legend className="mb-1 font-medium">How events arrive</legend>
          <RadioOptions
            label="How events arrive"
            value={draft.mode}
            options={modes}
            onChange={(mode) => onChange({ mode })}
          />
        </fieldset>
      )}
    </>
  );
}

/** The settings of a channel besides its connection. */
export function ChannelFields(props: ChannelFieldsProps) {
  const { draft, onChange, problems } = props;
  return (
    <>
      <FormSection title="People" lead="Who may talk to the agent and decide its approvals.">
        <AccessFields {...props} />
      </FormSection>
      <FormSection title="Conversations" lead="Each conversation is a session.">
        <fieldset>
          <legend className="mb-1 font-medium">Messages of groups</legend>
          <RadioOptions
            label="Messages of groups"
            value={draft.respondTo}
            options={RESPOND_TO}
            onChange={(respondTo) => onChange({ respondTo })}
          />
        </fieldset>
        <SwitchRow text="One session per chat" hint="Otherwise each sender in a chat has a session.">
          <Switch
            label="One session per chat"
            checked={draft.perChat}
            onChange={(perChat) => onChange({ perChat })}
          />
        </SwitchRow>
        <NumberField
          label="New session after idle seconds"
          optional
          hint="Empty: a conversation keeps its session."
          value={draft.idleSeconds}
          onChange={(idleSeconds) => onChange({ idleSeconds })}
          error={problemAt(problems, '/config/new_session_after_idle_seconds')}
        />
        <Field
          label="Greeting"
          optional
          hint="The first post of each conversation."
          error={problemAt(problems, '/config/greeting')}
        >
          <TextArea
            rows={2}
            value={draft.greeting}
            onChange={(event) => onChange({ greeting: event.target.value })}
          />
        </Field>
      </FormSection>
      <FormSection title="Answers">
        <AnswerFields {...props} />
      </FormSection>
    </>
  );
}
