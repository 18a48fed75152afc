import { SwitchRow } from '../../../ui/form-section.tsx';
import { RadioOptions } from '../../../ui/radio-options.tsx';
import { Switch } from '../../../ui/switch.tsx';
import type { ChannelFieldsProps } from './fields-props.ts';
import { BUSY, EDITS, SHOW_TOOLS } from './labels.ts';

/** How answers are shown, and files. */
export function AnswerFields({ draft, onChange }: ChannelFieldsProps) {
  return (
    <>
      <fieldset>
        <legend className="mb-1 font-medium">When a message comes during a turn</legend>
        <RadioOptions
          label="When a message comes during a turn"
          value={draft.busy}
          options={BUSY}
          onChange={(busy) => onChange({ busy })}
        />
      </fieldset>
      <fieldset>
        <legend className="mb-1 font-medium">Answers are posted</legend>
        <RadioOptions
          label="Answers are posted"
          value={draft.edits}
          options={EDITS}
          onChange={(edits) => onChange({ edits })}
        />
      </fieldset>
      <fieldset>
        <legend className="mb-1 font-medium">Tool calls</legend>
        <RadioOptions
          label="Tool calls"
          value={draft.showTools}
          options={SHOW_TOOLS}
          onChange={(showTools) => onChange({ showTools })}
        />
      </fieldset>
      <SwitchRow text="Files of messages" hint="The agent gets them below inbox/.">
        <Switch
          label="Files of messages"
          checked={draft.filesIn}
          onChange={(filesIn) => onChange({ filesIn })}
        />
      </SwitchRow>
      <SwitchRow text="Files of the agent" hint="Files that the agent writes below outbox/ are sent.">
        <Switch
          label="Files of the agent"
          checked={draft.filesOut}
          onChange={(filesOut) => onChange({ filesOut })}
        />
      </SwitchRow>
    </>
  );
}
