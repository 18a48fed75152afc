import { NumberField } from '../../parts/editor/number-field.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import type { PartProps } from './part.ts';
import { IDLE_ACTIONS } from './words.ts';

export function IdleFields({ draft, onChange, at }: PartProps) {
  const about = IDLE_ACTIONS.find(({ value }) => value === draft.idleAction)?.about;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <NumberField
        label="Idle after"
        hint="Seconds without a command."
        value={draft.idleTimeout}
        onChange={(idleTimeout) => onChange({ idleTimeout })}
        error={at('/idle/timeout_seconds')}
      />
      <Field label="Then" hint={about} error={at('/idle/action')}>
        <Select
          label="Then"
          value={draft.idleAction}
          options={IDLE_ACTIONS}
          onChange={(idleAction) => onChange({ idleAction })}
        />
      </Field>
    </div>
  );
}
