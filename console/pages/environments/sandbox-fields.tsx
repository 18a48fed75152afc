import { NumberField } from '../../parts/editor/number-field.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import type { FieldGroupProps } from './field-group.ts';
import { PROVIDER_LABELS, SUPPORTED, selectableValues } from './labels.ts';

export function SandboxFields({ draft, saved, onChange, errorAt }: FieldGroupProps) {
  const about = PROVIDER_LABELS.find(({ value }) => value === draft.provider)?.about;
  return (
    <>
      <Field label="Provider" hint={about} error={errorAt('/sandbox/provider')}>
        <Select
          label="Provider"
          value={draft.provider}
          options={selectableValues(PROVIDER_LABELS, SUPPORTED.providers, saved.provider)}
          onChange={(provider) => onChange({ provider })}
        />
      </Field>
      {(SUPPORTED.images || saved.image !== '') && (
        <Field
          label="Image"
          optional
          hint="Container image, for providers that support images."
          error={errorAt('/sandbox/image')}
        >
          <Input
            value={draft.image}
            spellCheck={false}
            className="font-mono text-[13px]"
            onChange={(event) => onChange({ image: event.target.value })}
          />
        </Field>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <NumberField
          label="CPU"
          hint="In thousandths of a CPU."
          optional
          placeholder="Provider default"
          value={draft.cpuMillis}
          onChange={(cpuMillis) => onChange({ cpuMillis })}
          error={errorAt('/sandbox/cpu_millis')}
        />
        <NumberField
          label="Memory"
          hint="In MiB."
          optional
          placeholder="Provider default"
          value={draft.memoryMib}
          onChange={(memoryMib) => onChange({ memoryMib })}
          error={errorAt('/sandbox/memory_mib')}
        />
        <NumberField
          label="Processes"
          hint="Maximum number of concurrent processes."
          optional
          placeholder="Provider default"
          value={draft.pids}
          onChange={(pids) => onChange({ pids })}
          error={errorAt('/sandbox/pids')}
        />
        <NumberField
          label="Temporary files"
          hint="In MiB."
          optional
          placeholder="Provider default"
          value={draft.diskMib}
          onChange={(diskMib) => onChange({ diskMib })}
          error={errorAt('/sandbox/disk_mib')}
        />
        <NumberField
          label="Workspace copy"
          hint="In MiB."
          optional
          placeholder="Workspace limit"
          value={draft.workspaceMib}
          onChange={(workspaceMib) => onChange({ workspaceMib })}
          error={errorAt('/sandbox/workspace_mib')}
        />
        <NumberField
          label="Command timeout"
          hint="Seconds, at most 86,400."
          value={draft.commandTimeout}
          onChange={(commandTimeout) => onChange({ commandTimeout })}
          error={errorAt('/sandbox/command_timeout_seconds')}
        />
      </div>
    </>
  );
}
