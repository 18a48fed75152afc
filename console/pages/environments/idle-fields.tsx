import { NumberField } from '../../parts/editor/number-field.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import type { FieldGroupProps } from './field-group.ts';
import { IDLE_ACTION_LABELS } from './labels.ts';

export function IdleFields({ draft, onChange, errorAt }: FieldGroupProps) {
  const about = IDLE_ACTION_LABELS.find(({ value }) => value === draft.idleAction)?.about;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <NumberField
        label="Idle timeout"
        hint="Seconds without a running command."
        value={draft.idleTimeout}
        onChange={(idleTimeout) => onChange({ idleTimeout })}
        error={errorAt('/idle/timeout_seconds')}
      />
      <Field label="Idle action" hint={about} error={errorAt('/idle/action')}>
        <Select
          label="Idle action"
          value={draft.idleAction}
          options={IDLE_ACTION_LABELS}
          onChange={(idleAction) => onChange({ idleAction })}
        />
      </Field>
    </div>
  );
}
