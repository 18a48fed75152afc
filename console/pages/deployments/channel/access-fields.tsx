import { problemAt } from '../../../parts/editor/problems.ts';
import { Field, TextArea } from '../../../ui/field.tsx';
import { SwitchRow } from '../../../ui/form-section.tsx';
import { RadioOptions } from '../../../ui/radio-options.tsx';
import { Switch } from '../../../ui/switch.tsx';
import type { ChannelFieldsProps } from './fields-props.ts';
import { ACCESS, APPROVERS, OWNERS } from './labels.ts';

/** Access, owner and approvers. */
export function AccessFields({ provider, draft, onChange, problems }: ChannelFieldsProps) {
  const approvers = Array.isArray(draft.approvers)
    ? [...APPROVERS, { value: 'users' as const, text: `${draft.approvers.length} named users` }]
    : APPROVERS;
  return (
    <>
      <fieldset>
        <legend className="mb-1 font-medium">Who may talk to the agent</legend>
        <RadioOptions
          label="Who may talk to the agent"
          value={draft.access}
          options={ACCESS}
          onChange={(access) => onChange({ access })}
        />
      </fieldset>
      {draft.access === 'anyone' && (
        <p role="alert" className="rounded-xl border border-warn bg-warn-soft p-3">
          Everyone who can write to the bot uses the agent, its tools and its files. The sessions and their
          costs are yours.
        </p>
      )}
      {draft.access === 'list' && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label="Accounts"
            hint="Ids of the product, one per line."
            error={problemAt(problems, '/config/access/people')}
          >
            <TextArea
              rows={4}
              dir="ltr"
              value={draft.people}
              onChange={(event) => onChange({ people: event.target.value })}
            />
          </Field>
          <Field
            label="Places"
            optional
            hint="Channels, chats or rooms, one per line."
            error={problemAt(problems, '/config/access/places')}
          >
            <TextArea
              rows={4}
              dir="ltr"
              value={draft.places}
              onChange={(event) => onChange({ places: event.target.value })}
            />
          </Field>
        </div>
      )}
      {provider === 'slack' && (
        <SwitchRow text="Other organizations" hint="People of shared channels may talk to the agent.">
          <Switch
            label="Other organizations"
            checked={draft.allowExternal}
            onChange={(allowExternal) => onChange({ allowExternal })}
          />
        </SwitchRow>
      )}
      {provider === 'slack' && (
        <SwitchRow
          text="Trust verified e-mails"
          hint="An account with the verified e-mail of a user counts as linked to that user."
        >
          <Switch
            label="Trust verified e-mails"
            checked={draft.trustEmail}
            onChange={(trustEmail) => onChange({ trustEmail })}
          />
        </SwitchRow>
      )}
      <fieldset>
        <legend className="mb-1 font-medium">Owner of the sessions</legend>
        <RadioOptions
          label="Owner of the sessions"
          value={draft.owner}
          options={OWNERS}
          onChange={(owner) => onChange({ owner })}
        />
      </fieldset>
      <fieldset>
        <legend className="mb-1 font-medium">Who decides approvals in the chat</legend>
        <RadioOptions
          label="Who decides approvals in the chat"
          value={Array.isArray(draft.approvers) ? 'users' : draft.approvers}
          options={approvers}
          onChange={(chosen) => {
            if (chosen !== 'users') onChange({ approvers: chosen });
          }}
        />
      </fieldset>
    </>
  );
}
