import { NumberField } from '../../../parts/editor/number-field.tsx';
import { problemAt } from '../../../parts/editor/problems.ts';
import { SwitchRow } from '../../../ui/form-section.tsx';
import { RadioOptions } from '../../../ui/radio-options.tsx';
import { Switch } from '../../../ui/switch.tsx';
import type { ScheduleFieldsProps } from './fields-props.ts';
import { OVERLAPS } from './labels.ts';

/** Overlap, jitter, catch-up and the automatic pause. */
export function RuleFields({ draft, onChange, problems }: ScheduleFieldsProps) {
  return (
    <>
      <fieldset>
        <legend className="mb-1 font-medium">When a time is due before the previous run has ended</legend>
        <RadioOptions
          label="Overlap"
          value={draft.overlap}
          options={OVERLAPS}
          onChange={(overlap) => onChange({ overlap })}
        />
      </fieldset>
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          label="Catch-up window in seconds"
          hint="After a downtime, older times are missed."
          value={draft.catchUp}
          onChange={(catchUp) => onChange({ catchUp })}
          error={problemAt(problems, '/catch_up_seconds')}
        />
        <NumberField
          label="Jitter in seconds"
          hint="The largest delay of a run."
          value={draft.jitter}
          onChange={(jitter) => onChange({ jitter })}
          error={problemAt(problems, '/jitter_seconds')}
        />
        <NumberField
          label="Pause after failures"
          hint="Runs in a row that could not start. 0: never."
          value={draft.pauseAfter}
          onChange={(pauseAfter) => onChange({ pauseAfter })}
          error={problemAt(problems, '/pause_after_failures')}
        />
      </div>
      <SwitchRow text="Count failed turns" hint="A turn that fails counts as a failure, too.">
        <Switch
          label="Count failed turns"
          checked={draft.countFailedTurns}
          onChange={(countFailedTurns) => onChange({ countFailedTurns })}
        />
      </SwitchRow>
    </>
  );
}
